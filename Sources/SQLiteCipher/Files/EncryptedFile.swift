import Foundation

/// Encryption for files that are not databases: photos, documents, any size in constant memory.
///
/// ```swift
/// let key = try database.fileKey()
/// try EncryptedFile.encrypt(contentsOf: "photo.jpg", to: "photo.enc", key: key, context: card.id)
///
/// let reader = try EncryptedFile.Reader(path: "photo.enc", key: key, context: card.id)
/// let part = try reader.read(at: 1_000_000, count: 4096)
/// ```
///
/// A file is a sequence of chunks that are encrypted and authenticated one by one, so that any part can be read by
/// itself. A change, a cut, an exchange of chunks or of whole files is noticed as ``CipherError/Code/damagedFile``,
/// at the latest when the part concerned is read; a cut already when the file is opened.
///
/// Files are written once. To change one is to write another and to remove the first.
public enum EncryptedFile {
    /// The plaintext bytes of each chunk but the last.
    public static let chunkSize = 1 << 16

    /// Encrypts a file to another. The target appears only when it is complete and flushed.
    ///
    /// - Parameters:
    ///   - source: The path of the file in the clear.
    ///   - target: The path of the encrypted file.
    ///   - key: The key for files, such as a store's.
    ///   - context: What the file is, such as the ID of what it belongs to. It is not stored; the same must be given to
    ///     read the file, so that files can't be exchanged for one another.
    /// - Throws: ``CipherError``: ``CipherError/Code/diskFull``, ``CipherError/Code/ioFailure``. There is no target then.
    public static func encrypt(contentsOf source: String, to target: String, key: FileKey, context: String = "") throws
    {
        let input = try Descriptor(reading: source)
        let writer = try Writer(path: target, key: key, context: context)
        var buffer = [UInt8](repeating: 0, count: chunkSize)
        while true {
            let count = try buffer.withUnsafeMutableBytes { try input.read($0) }
            if count == 0 { break }
            try buffer.withUnsafeBytes { try writer.write(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        try writer.finish()
    }

    /// Decrypts a file to another, in the clear. The target appears only when all of the source proved authentic.
    ///
    /// A process that is killed leaves nothing of it, save where the file system can't keep files without a name (Linux
    /// file systems of today can): there a `.partial` file stays, in the clear.
    ///
    /// - Parameters:
    ///   - source: The path of the encrypted file.
    ///   - target: The path of the file in the clear.
    ///   - key: The key that it was encrypted with.
    ///   - context: What was given when it was.
    /// - Throws: ``CipherError``: ``CipherError/Code/damagedFile`` if the file, the key or the context is not what it
    ///   was; ``CipherError/Code/diskFull``, ``CipherError/Code/ioFailure``. There is no target then.
    public static func decrypt(contentsOf source: String, to target: String, key: FileKey, context: String = "") throws
    {
        let reader = try Reader(path: source, key: key, context: context)
        let output = try Descriptor(for: target)
        var offset: Int64 = 0
        while offset < reader.size {
            let part = try reader.read(at: offset, count: chunkSize)
            try part.withUnsafeBytes { try output.write($0) }
            offset += Int64(part.count)
        }
        try output.moveIntoPlace()
    }
}
