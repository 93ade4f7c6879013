/// How a database's pages are encrypted.
///
/// ``aes256gcm`` is the default. ``sqlCipher4`` is for exchange with SQLCipher 4, byte by byte.
///
/// Neither page size nor iterations are written in a file: who opens it must give those it was made with, and other
/// ones read as a wrong key.
public struct CipherProfile: Hashable, Sendable {
    enum Format: UInt8 {
        case aes256gcm = 1
        case sqlCipher4 = 2
    }

    let format: Format
    /// The size of a page in bytes: a power of two, 1,024 to 65,536.
    public let pageSize: Int
    /// The rounds of PBKDF2-HMAC-SHA512 that turn a passphrase into a key. A raw key takes none.
    public let iterations: Int

    /// SQLCipher 4's count, which both profiles take unless told otherwise.
    public static let defaultIterations = 256_000

    /// AES-256-GCM, pages of 4,096 bytes.
    public static let aes256gcm = aes256gcm()
    /// What SQLCipher 4 writes by default: AES-256-CBC with HMAC-SHA512, pages of 4,096 bytes.
    public static let sqlCipher4 = sqlCipher4()

    /// AES-256-GCM with options.
    public static func aes256gcm(pageSize: Int = 4096, iterations: Int = defaultIterations) -> CipherProfile {
        CipherProfile(format: .aes256gcm, pageSize: pageSize, iterations: iterations)
    }

    /// SQLCipher 4 with options: its `cipher_page_size` and `kdf_iter`.
    public static func sqlCipher4(pageSize: Int = 4096, iterations: Int = defaultIterations) -> CipherProfile {
        CipherProfile(format: .sqlCipher4, pageSize: pageSize, iterations: iterations)
    }

    /// The bytes at each page's end that SQLite leaves to us.
    var reserve: Int { format == .aes256gcm ? GCMCodec.overhead : 80 }

    /// Where page 1 has 16 bytes that are others whenever it was written anew: nonce or initialisation vector.
    var markOffset: Int { format == .aes256gcm ? PageLayout.saltSize : pageSize - reserve }

    /// Whether a page with this many reserved bytes can be kept.
    ///
    /// SQLite can't shrink what is reserved, so a converted database may keep more than the 36 bytes that GCM uses.
    func accepts(reserve: Int) -> Bool {
        format == .aes256gcm ? reserve >= GCMCodec.overhead : reserve == 80
    }

    func validate() throws {
        // SQLite knows pages of 512 bytes too, but needs 480 of them for itself.
        guard (1024...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0 else {
            throw CipherError(
                .invalidOption, "A page can't have \(pageSize) bytes.",
                advice: "Give a power of two from 1,024 to 65,536.")
        }
        guard (1...Int(Int32.max)).contains(iterations) else {
            throw CipherError(
                .invalidOption, "A key can't be derived in \(iterations) rounds.", advice: "Give 256,000.")
        }
    }
}

extension CipherProfile: CustomStringConvertible {
    public var description: String {
        let name = format == .aes256gcm ? "aes256gcm" : "sqlCipher4"
        return "\(name)(pageSize: \(pageSize), iterations: \(iterations))"
    }
}
