import Crypto
import Foundation

/// The secret from which the keys of encrypted files are derived, one for each file.
///
/// Two are equal if they open the same files; how long the comparison takes says nothing of where they differ.
public struct FileKey: Sendable, Equatable {
    let master: SymmetricKey

    init(master: SymmetricKey) {
        self.master = master
    }

    /// A key of 32 random bytes, kept by the caller: in the encrypted database, say, so that the database's own key can
    /// change without writing every file anew.
    public init(raw bytes: [UInt8]) throws {
        guard bytes.count == 32 else { throw CipherError(.invalidKey, "A file key has 32 bytes.") }
        master = SymmetricKey(data: bytes)
    }

    /// The 32 bytes of the key.
    package var bytes: [UInt8] { master.withUnsafeBytes { Array($0) } }

    /// The key of one file, from its random salt.
    func key(salt: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: master, salt: Data(salt), info: Data("SQLiteCipher file 1".utf8), outputByteCount: 32)
    }
}

extension FileKey: CustomStringConvertible, CustomReflectable {
    public var description: String { "FileKey(…)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
