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
/// There is no way to read a database whose key is lost. The bytes that this type holds are overwritten when its last
/// copy goes; a `String` handed to it can't be, and stays in memory until the system uses that memory again.
///
/// Printing a key, or dumping it, shows its kind and nothing more.
public struct CipherKey: Sendable {
    enum Source: Sendable {
        case passphrase(SecretBytes)
        case raw(SecretBytes, salt: [UInt8]?)
        case provider(@Sendable () throws -> CipherKey)
    }
    let source: Source

    /// A passphrase. Its UTF-8 bytes go through PBKDF2-HMAC-SHA512 with the file's random salt.
    ///
    /// Text that looks alike but is composed otherwise ("é" in one or two scalars) is another passphrase, as in
    /// SQLCipher.
    public static func passphrase(_ text: String) -> CipherKey {
        // No array in between, which nobody would wipe.
        var text = text
        return CipherKey(source: .passphrase(text.withUTF8 { SecretBytes(UnsafeRawBufferPointer($0)) }))
    }

    /// A passphrase as bytes, which the caller can overwrite.
    public static func passphrase(_ bytes: [UInt8]) -> CipherKey {
        CipherKey(source: .passphrase(SecretBytes(bytes)))
    }

    /// 32 random bytes, used as they are. SQLCipher's `PRAGMA key = "x'64 hex digits'"`.
    ///
    /// - Parameters:
    ///   - bytes: 32 random bytes. Another number of them is an error when the key is used.
    ///   - salt: 16 bytes that a new file gets as its salt, and that stand in for an old one's. SQLCipher's raw form of
    ///     96 hex digits. Without it a new file gets random ones, as it should: pages of two files with one key and one
    ///     salt can be exchanged unnoticed. The bytes in the file are then not looked at.
    public static func raw(_ bytes: [UInt8], salt: [UInt8]? = nil) -> CipherKey {
        CipherKey(source: .raw(SecretBytes(bytes), salt: salt))
    }

    /// Asks for the key when a database is opened with it, and not before.
    public static func provider(_ provide: @escaping @Sendable () throws -> CipherKey) -> CipherKey {
        CipherKey(source: .provider(provide))
    }

    /// The key itself: what a provider gives, or `self`, checked.
    func resolved() throws -> CipherKey {
        var key = self
        // A provider may give another one, but not for ever.
        for _ in 0..<8 {
            switch key.source {
            case .provider(let provide):
                do {
                    key = try provide()
                } catch {
                    throw CipherError(
                        .keyUnavailable, "The key's provider failed.",
                        advice: "Open the database when the key can be had.", underlying: error)
                }
            case .passphrase(let bytes):
                guard bytes.count > 0 else {
                    throw CipherError(.invalidKey, "The passphrase is empty.", advice: "Give one, or open it as plain.")
                }
                return key
            case .raw(let bytes, let salt):
                guard bytes.count == 32, salt == nil || salt?.count == 16 else {
                    throw CipherError(
                        .invalidKey, "A raw key has 32 bytes and its salt 16.",
                        advice: "If these are bytes of a passphrase, give them as one.")
                }
                return key
            }
        }
        throw CipherError(.keyUnavailable, "The key's provider gives providers only.")
    }
}

extension CipherKey: CustomStringConvertible, CustomReflectable {
    public var description: String {
        switch source {
        case .passphrase: "CipherKey.passphrase(…)"
        case .raw: "CipherKey.raw(…)"
        case .provider: "CipherKey.provider(…)"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
