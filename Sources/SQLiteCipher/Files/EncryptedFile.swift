import Foundation

/// Encryption of files that are not databases, such as photos and documents, of any size in constant memory.
///
/// ```swift
/// let key = try database.fileKey()
/// try EncryptedFile.encrypt(contentsOf: "photo.jpg", to: "photo.enc", key: key, context: card.id)
///
/// let reader = try EncryptedFile.Reader(path: "photo.enc", key: key, context: card.id)
/// let part = try reader.read(at: 1_000_000, count: 4096)
/// ```
///
/// A file is a sequence of chunks. Each chunk is encrypted and authenticated on its own, so any part can be read alone.
/// Modification, truncation and the exchange of chunks or files are detected as ``CipherError/Code/damagedFile``.
/// Detection happens at the latest when the affected part is read. Truncation is detected when the file is opened.
///
/// A file is written once. To change a file, write a new one and remove the old one.
public enum EncryptedFile {
    /// The number of plaintext bytes in each chunk except the last.
    public static let chunkSize = 1 << 16

    /// Encrypts a file to another file. The target appears only when it is complete and flushed.
    ///
    /// - Parameters:
    ///   - source: The path of the plaintext file.
    ///   - target: The path of the encrypted file.
    ///   - key: The file key, such as a store's.
    ///   - context: A description of the file, such as the ID of its owner. It is not stored. Reading requires the same
    ///     context, so files can't be exchanged for one another.
    /// - Throws: ``CipherError/Code/diskFull`` or ``CipherError/Code/ioFailure``. The target then does not exist.
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

    /// Decrypts a file to a plaintext file. The target appears only when the whole source was authenticated.
    ///
    /// A killed process leaves no plaintext, except on file systems without support for files without a name. Current
    /// Linux file systems support them. Elsewhere a plaintext `.partial` file remains.
    ///
    /// - Parameters:
    ///   - source: The path of the encrypted file.
    ///   - target: The path of the plaintext file.
    ///   - key: The key that the file was encrypted with.
    ///   - context: The context that the file was encrypted with.
    /// - Throws: ``CipherError/Code/damagedFile`` if the file was modified, or if the key or the context is wrong;
    ///   ``CipherError/Code/diskFull`` or ``CipherError/Code/ioFailure``. The target then does not exist.
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
