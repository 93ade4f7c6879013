import Foundation

/// A handle for random access to a file. See ``AttachmentStore/reader(of:)``.
///
/// ```swift
/// let reader = try store.attachments.reader(of: film)
/// let end = try reader.read(at: reader.size - 1024, count: 1024)
/// ```
///
/// The handle is safe on all threads. It returns decrypted bytes if the store is encrypted.
public struct AttachmentReader: Sendable {
    let file: BlobReader
    let store: Store

    /// The number of bytes.
    public var size: Int64 { file.size }

    /// Reads up to `count` bytes from an offset. Returns fewer at the end of the file, and none past it.
    ///
    /// - Parameters:
    ///   - offset: The index of the first byte.
    ///   - count: The maximum number of bytes.
    /// - Throws: ``TandemError/Code/corrupt`` if the file was truncated or changed; ``TandemError/Code/invalidValue``
    ///   for a negative offset or count.
    /// - Complexity: O(`count`). In an encrypted store it reads at least 64 KiB.
    public func read(at offset: Int64, count: Int) throws -> Data {
        try store.located { try file.read(at: offset, count: count) }
    }
}
