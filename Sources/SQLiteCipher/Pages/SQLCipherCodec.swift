import Crypto
import CryptoExtras
import Foundation

/// A codec for pages in SQLCipher 4's default format:
///
/// ```
/// ciphertext | IV (16) | HMAC-SHA512 (64)
/// ```
///
/// The cipher is AES-256-CBC without padding. Page 1 begins with the file's salt in plaintext. The HMAC covers
/// ciphertext, IV and page number (4, little endian), but not the salt. See https://www.zetetic.net/sqlcipher/design/.
final class SQLCipherCodec: PageCodec {
    static let worthHelp = 2
    private static let ivSize = 16
    private static let macSize = 64

    private let pageKey: SymmetricKey
    private let salt: [UInt8]
    private let pageSize: Int
    private let random = RandomPool()
    /// An HMAC that has already absorbed the key. Copying it for each page saves two hash blocks.
    private let keyedMAC: HMAC<SHA512>
    /// The HMAC's input: ciphertext | IV | page number, as contiguous memory.
    private let scratch: UnsafeMutableRawBufferPointer

    init(pageKey: SymmetricKey, macKey: SymmetricKey, salt: [UInt8], pageSize: Int) {
        self.pageKey = pageKey
        self.salt = salt
        self.pageSize = pageSize
        keyedMAC = HMAC<SHA512>(key: macKey)
        scratch = .allocate(byteCount: pageSize, alignment: 16)
    }

    deinit {
        scratch.deallocate()
    }

    private func body(_ page: UInt32) -> Range<Int> {
        (page == 1 ? PageLayout.saltSize : 0)..<pageSize - Self.ivSize - Self.macSize
    }

    /// Returns the HMAC of `memory`. The four bytes after it must be writable: they receive the page number.
    private func mac(_ memory: UnsafeMutableRawPointer, count: Int, page: UInt32) -> HMAC<SHA512>.MAC {
        (memory + count).storeBytes(of: page.littleEndian, as: UInt32.self)
        var mac = keyedMAC
        mac.update(data: UnsafeRawBufferPointer(start: memory, count: count + 4))
        return mac.finalize()
    }

    func encrypt(_ plain: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) throws {
        let body = body(page)
        let iv = UnsafeMutableRawBufferPointer(start: target + body.upperBound, count: Self.ivSize)
        try random.fill(iv)
        let encrypted = try AES._CBC.encrypt(
            UnsafeRawBufferPointer(start: plain + body.lowerBound, count: body.count),
            using: pageKey, iv: AES._CBC.IV(ivBytes: iv), noPadding: true)
        if page == 1 { salt.withUnsafeBytes { target.copyMemory(from: $0.baseAddress!, byteCount: salt.count) } }
        encrypted.copy(to: target + body.lowerBound)
        // The page number temporarily occupies the place of the HMAC.
        mac(target + body.lowerBound, count: body.count + Self.ivSize, page: page).withUnsafeBytes {
            (target + body.upperBound + Self.ivSize).copyMemory(from: $0.baseAddress!, byteCount: Self.macSize)
        }
    }

    func decrypt(_ stored: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) -> Bool {
        let body = body(page)
        let signed = body.count + Self.ivSize
        memcpy(scratch.baseAddress!, stored + body.lowerBound, signed)
        let computed = mac(scratch.baseAddress!, count: signed, page: page)
        let claimed = UnsafeRawBufferPointer(start: stored + pageSize - Self.macSize, count: Self.macSize)
        // This comparison takes constant time.
        guard computed == claimed else { return false }
        let ciphertext = UnsafeRawBufferPointer(rebasing: scratch[..<body.count])
        guard let iv = try? AES._CBC.IV(ivBytes: scratch[body.count..<signed]),
            let plain = try? AES._CBC.decrypt(ciphertext, using: pageKey, iv: iv, noPadding: true)
        else { return false }
        if page == 1 { PageLayout.magic.withUnsafeBytes { target.copyMemory(from: $0.baseAddress!, byteCount: 16) } }
        plain.copy(to: target + body.lowerBound)
        memset(target + body.upperBound, 0, Self.ivSize + Self.macSize)
        return true
    }
}
