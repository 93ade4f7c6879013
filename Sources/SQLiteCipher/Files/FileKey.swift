import Crypto
import Foundation

/// The secret from which the key of each encrypted file is derived.
///
/// Two keys are equal if they open the same files. The comparison takes constant time.
public struct FileKey: Sendable, Equatable {
    let master: SymmetricKey

    init(master: SymmetricKey) {
        self.master = master
    }

    /// Creates a key from 32 random bytes that the caller keeps. If they are kept in the encrypted database, the
    /// database's key can change without rewriting the files.
    ///
    /// - Parameter bytes: 32 random bytes.
    /// - Throws: ``CipherError/Code/invalidKey`` if the number of bytes is not 32.
    public init(raw bytes: [UInt8]) throws {
        guard bytes.count == 32 else { throw CipherError(.invalidKey, message: "A file key must have 32 bytes.") }
        master = SymmetricKey(data: bytes)
    }

    /// The 32 bytes of the key.
    package var bytes: [UInt8] { master.withUnsafeBytes { Array($0) } }

    /// Returns the key of a single file, derived from the file's random salt.
    func key(salt: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: master, salt: Data(salt), info: Data("SQLiteCipher file 1".utf8), outputByteCount: 32)
    }
}

extension FileKey: CustomStringConvertible, CustomReflectable {
    /// A constant text that does not show the key.
    public var description: String { "FileKey(…)" }
    /// An empty mirror, so that `dump` does not show the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
