/// The encryption format of a database's pages.
///
/// ``aes256gcm`` is the default. ``sqlCipher4`` is for byte-compatible exchange with SQLCipher 4.
///
/// A file does not store its page size or iterations. Open it with the values that it was created with: other values
/// give the same error as a wrong key.
public struct CipherProfile: Hashable, Sendable {
    enum Format: UInt8 {
        case aes256gcm = 1
        case sqlCipher4 = 2
    }

    let format: Format
    /// The size of a page in bytes: a power of two from 1,024 to 65,536.
    public let pageSize: Int
    /// The number of PBKDF2-HMAC-SHA512 rounds that derive a key from a passphrase. A raw key is not derived.
    public let iterations: Int

    /// The default number of iterations in both profiles, equal to SQLCipher 4's.
    public static let defaultIterations = 256_000

    /// AES-256-GCM with pages of 4,096 bytes.
    public static let aes256gcm = aes256gcm()
    /// SQLCipher 4's default: AES-256-CBC with HMAC-SHA512, and pages of 4,096 bytes.
    public static let sqlCipher4 = sqlCipher4()

    /// Returns an AES-256-GCM profile with the given page size and iterations.
    ///
    /// - Parameters:
    ///   - pageSize: The size of a page in bytes: a power of two from 1,024 to 65,536.
    ///   - iterations: The number of iterations that derive the key from a passphrase.
    public static func aes256gcm(pageSize: Int = 4096, iterations: Int = defaultIterations) -> CipherProfile {
        CipherProfile(format: .aes256gcm, pageSize: pageSize, iterations: iterations)
    }

    /// Returns a SQLCipher 4 profile. The parameters are SQLCipher's `cipher_page_size` and `kdf_iter`.
    ///
    /// - Parameters:
    ///   - pageSize: The size of a page in bytes: a power of two from 1,024 to 65,536.
    ///   - iterations: The number of iterations that derive the key from a passphrase.
    public static func sqlCipher4(pageSize: Int = 4096, iterations: Int = defaultIterations) -> CipherProfile {
        CipherProfile(format: .sqlCipher4, pageSize: pageSize, iterations: iterations)
    }

    /// The number of bytes at the end of each page that SQLite reserves for this module.
    var reserve: Int { format == .aes256gcm ? GCMCodec.overhead : 80 }

    /// The offset of 16 bytes in page 1 that change with each write: a nonce or an initialization vector.
    var markOffset: Int { format == .aes256gcm ? PageLayout.saltSize : pageSize - reserve }

    /// Returns whether this profile can use pages with the given number of reserved bytes.
    ///
    /// SQLite can't reduce the reserved size, so a converted database may keep more than the 36 bytes that GCM uses.
    func accepts(reserve: Int) -> Bool {
        format == .aes256gcm ? reserve >= GCMCodec.overhead : reserve == 80
    }

    /// Checks that the page size and the iterations are in range.
    func validate() throws {
        // SQLite also supports pages of 512 bytes, but needs 480 of them for itself.
        guard (1024...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0 else {
            throw CipherError(
                .invalidOption, message: "A page size of \(pageSize) bytes is not supported.",
                advice: "Give a power of two from 1,024 to 65,536.")
        }
        guard (1...Int(Int32.max)).contains(iterations) else {
            throw CipherError(
                .invalidOption, message: "A key can't be derived with \(iterations) iterations.",
                advice: "Give 256,000.")
        }
    }
}

extension CipherProfile: CustomStringConvertible {
    /// The name of the format with its options.
    public var description: String {
        let name = format == .aes256gcm ? "aes256gcm" : "sqlCipher4"
        return "\(name)(pageSize: \(pageSize), iterations: \(iterations))"
    }
}
