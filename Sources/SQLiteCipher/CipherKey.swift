/// The secret that opens an encrypted database.
///
/// For example:
///
/// ```swift
/// let typed = CipherKey.passphrase("correct horse battery staple")
/// let stored = CipherKey.raw(thirtyTwoBytes)
/// let asked = CipherKey.provider { try .raw(keychain.read("notes")) }
/// ```
///
/// A database whose key is lost can't be read. This type overwrites its bytes when its last copy is released. It can't
/// overwrite a `String` that you pass: the string's bytes stay in memory until the system reuses that memory.
///
/// Printing or dumping a key shows its kind only.
public struct CipherKey: Sendable {
    enum Source: Sendable {
        case passphrase(SecretBytes)
        case raw(SecretBytes, salt: [UInt8]?)
        case provider(@Sendable () throws -> CipherKey)
    }
    let source: Source

    /// Returns a key made of a passphrase. PBKDF2-HMAC-SHA512 derives it from the UTF-8 bytes and the file's random
    /// salt.
    ///
    /// As in SQLCipher, different Unicode compositions of the same visible text ("é" as one scalar or two) are
    /// different passphrases.
    public static func passphrase(_ text: String) -> CipherKey {
        // An intermediate array would leave a copy that is never overwritten.
        var text = text
        return CipherKey(source: .passphrase(text.withUTF8 { SecretBytes(UnsafeRawBufferPointer($0)) }))
    }

    /// Returns a key made of the bytes of a passphrase. The caller can overwrite its own copy.
    public static func passphrase(_ bytes: [UInt8]) -> CipherKey {
        CipherKey(source: .passphrase(SecretBytes(bytes)))
    }

    /// Returns a key made of 32 random bytes, without derivation. SQLCipher's `PRAGMA key = "x'64 hex digits'"`.
    ///
    /// - Parameters:
    ///   - bytes: 32 random bytes. Any other count is reported as an error when the key is used.
    ///   - salt: 16 bytes that a new file gets as its salt, and that replace the salt of an existing file. It is the
    ///     second part of SQLCipher's raw form of 96 hex digits. The salt bytes in the file are then not read. Without
    ///     it a new file gets a random salt, which is safer. Pages of two files that share key and salt can be
    ///     exchanged without detection.
    public static func raw(_ bytes: [UInt8], salt: [UInt8]? = nil) -> CipherKey {
        CipherKey(source: .raw(SecretBytes(bytes), salt: salt))
    }

    /// Returns a key that calls a closure for the actual key.
    ///
    /// The closure is called each time a database is opened with the key, and not before.
    ///
    /// - Parameter provide: Returns the key. If it throws, opening fails with ``CipherError/Code/keyUnavailable``.
    public static func provider(_ provide: @escaping @Sendable () throws -> CipherKey) -> CipherKey {
        CipherKey(source: .provider(provide))
    }

    /// Returns the validated key. If the key is a provider, calls it.
    func resolved() throws -> CipherKey {
        var key = self
        // A provider may return another provider. The limit prevents an endless chain.
        for _ in 0..<8 {
            switch key.source {
            case .provider(let provide):
                do {
                    key = try provide()
                } catch {
                    throw CipherError(
                        .keyUnavailable, message: "The key's provider failed.",
                        advice: "Open the database when the key is available.", underlying: error)
                }
            case .passphrase(let bytes):
                guard bytes.count > 0 else {
                    throw CipherError(
                        .invalidKey, message: "The passphrase is empty.",
                        advice: "Give a passphrase, or open the database without a key.")
                }
                return key
            case .raw(let bytes, let salt):
                guard bytes.count == 32, salt == nil || salt?.count == 16 else {
                    throw CipherError(
                        .invalidKey, message: "A raw key must have 32 bytes, and its salt 16 bytes.",
                        advice: "If these are the bytes of a passphrase, use `.passphrase`.")
                }
                return key
            }
        }
        throw CipherError(
            .keyUnavailable, message: "The key's provider returned eight providers in a row, and not a key.")
    }
}

extension CipherKey: CustomStringConvertible, CustomReflectable {
    /// The kind of the key, without its bytes.
    public var description: String {
        switch source {
        case .passphrase: "CipherKey.passphrase(…)"
        case .raw: "CipherKey.raw(…)"
        case .provider: "CipherKey.provider(…)"
        }
    }

    /// An empty mirror, so that `dump` does not show the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
