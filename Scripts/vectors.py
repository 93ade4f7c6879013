"""Computes the test vectors in VectorTests.swift from the formats' description, with Python's own primitives."""
import hashlib, hmac, struct
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
def hkdf_extract(salt, ikm): return hmac.new(salt, ikm, hashlib.sha256).digest()
def hkdf_expand(prk, info): return hmac.new(prk, info+b'\x01', hashlib.sha256).digest()
raw=bytes(range(32)); salt=bytes(range(0xa0,0xb0))
plain=lambda n,size,res: bytes((i*7+n)%256 for i in range(size-res))
def show(name,b):
    h=b.hex(); print(f"    static let {name} =\n        \"\"\"\n"+"".join("        "+h[i:i+108]+"\\\n" for i in range(0,len(h),108)).rstrip("\\\n")+"\n        \"\"\"")
size=1024
prk=hkdf_extract(salt,raw); epoch=0x010203
key=hkdf_expand(prk,b"SQLiteCipher page 1"+struct.pack('<I',epoch))
for page in (1,2):
    word=bytes([1])+struct.pack('<I',epoch)[:3]
    nonce=bytes(range(0x40,0x4c))
    body=plain(page,size,36)
    if page==1: body=body[16:]
    out=(salt if page==1 else b'')+nonce+AESGCM(key).encrypt(nonce,body+struct.pack('<I',page),None)+word
    assert len(out)==size
    show(f"gcmPage{page}",out)
# passphrase
m=hashlib.pbkdf2_hmac('sha512',b'correct horse',salt,1000,32)
prk=hkdf_extract(salt,m); key=hkdf_expand(prk,b"SQLiteCipher page 1"+struct.pack('<I',epoch))
nonce=bytes(range(0x40,0x4c)); word=bytes([1])+struct.pack('<I',epoch)[:3]
show("gcmPassphrasePage3",nonce+AESGCM(key).encrypt(nonce,plain(3,size,36)+struct.pack('<I',3),None)+word)
size=1024
mac=hashlib.pbkdf2_hmac('sha512',raw,bytes(b^0x3a for b in salt),2,32)
iv=bytes(range(0x50,0x60))
e=Cipher(algorithms.AES(raw),modes.CBC(iv)).encryptor(); ct=e.update(plain(2,size,80))+e.finalize()
show("sqlCipherPage2", ct+iv+hmac.new(mac,ct+iv+struct.pack('<I',2),hashlib.sha512).digest())
# file
fk=bytes(range(10,42)); fsalt=bytes(range(0x60,0x80))
header=b"SQLCFile"+bytes([1,16])+bytes(6)+fsalt
key=hkdf_expand(hkdf_extract(fsalt,fk),b"SQLiteCipher file 1")
show("file",header+AESGCM(key).encrypt(bytes(11)+b'\x01',b"hello",header+"card 1".encode()))
