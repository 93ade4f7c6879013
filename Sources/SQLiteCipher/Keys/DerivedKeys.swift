import Crypto
import CryptoExtras
import Foundation

/// The keys of a file, derived from a `CipherKey` and the file's salt.
///
/// `SymmetricKey` overwrites its bytes when its last copy is released.
struct DerivedKeys: Sendable {
    let salt: [UInt8]
    let material: Material

    enum Material: Sendable {
        /// The pseudo-random key from which each epoch's page key is expanded (RFC 5869).
        case gcm(SymmetricKey)
        case sqlCipher(page: SymmetricKey, mac: SymmetricKey)
    }

    /// Derives the keys. With a passphrase this takes a tenth of a second, by design.
    init(key: CipherKey, salt: [UInt8], profile: CipherProfile) throws {
        let master: SymmetricKey
        var salt = salt
        switch key.source {
        case .passphrase(let bytes):
            master = try bytes.withBytes {
                try KDF.Insecure.PBKDF2.deriveKey(
                    from: $0, salt: salt, using: .sha512, outputByteCount: 32,
                    unsafeUncheckedRounds: profile.iterations)
            }
        case .raw(let bytes, let given):
            master = bytes.withBytes { SymmetricKey(data: $0) }
            if let given { salt = given }
        case .provider:
            throw CipherError(.keyUnavailable, message: "The key's provider was not called.")
        }
        self.salt = salt
        switch profile.format {
        case .aes256gcm:
            let extracted = HKDF<SHA256>.extract(inputKeyMaterial: master, salt: Data(salt))
            material = .gcm(SymmetricKey(data: extracted))
        case .sqlCipher4:
            // SQLCipher 4's "fast" derivation: two rounds over the page key, with each byte of the salt xor 0x3a.
            let mac = try master.withUnsafeBytes {
                try KDF.Insecure.PBKDF2.deriveKey(
                    from: $0, salt: salt.map { $0 ^ 0x3A }, using: .sha512, outputByteCount: 32,
                    unsafeUncheckedRounds: 2)
            }
            material = .sqlCipher(page: master, mac: mac)
        }
    }

    /// Returns a key for the application's other files. It depends on this database's key and on a purpose.
    func fileMaster() -> SymmetricKey {
        let purpose = Data("SQLiteCipher files 1".utf8)
        switch material {
        case .gcm(let extracted):
            return HKDF<SHA256>.expand(pseudoRandomKey: extracted, info: purpose, outputByteCount: 32)
        case .sqlCipher(let page, _):
            return HKDF<SHA256>.deriveKey(
                inputKeyMaterial: page, salt: Data(salt), info: purpose, outputByteCount: 32)
        }
    }

    /// Returns the page key of an epoch.
    static func pageKey(_ extracted: SymmetricKey, epoch: UInt32) -> SymmetricKey {
        var info = Array("SQLiteCipher page 1".utf8)
        withUnsafeBytes(of: epoch.littleEndian) { info.append(contentsOf: $0) }
        return HKDF<SHA256>.expand(pseudoRandomKey: extracted, info: Data(info), outputByteCount: 32)
    }
}
