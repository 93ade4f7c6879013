import Foundation

/// A handle on a file, to read any part of it: see ``StoreAttachments/reader(of:)``.
///
/// ```swift
/// let reader = try store.attachments.reader(of: film)
/// let end = try reader.read(at: reader.size - 1024, count: 1024)
/// ```
///
/// Safe on all threads. The bytes are in the clear, also in an encrypted store.
public struct AttachmentReader: Sendable {
    let file: FileReading
    let store: Store

    /// The number of bytes.
    public var size: Int64 { file.size }

    /// Reads up to `count` bytes from an offset: fewer at the end of the file, none past it.
    ///
    /// - Throws: ``TandemError/Code/corrupt`` if it was cut or changed; ``TandemError/Code/invalidValue`` for a negative
    ///   offset or count.
    /// - Complexity: O(`count`); in an encrypted store, of 64 KiB at least.
    public func read(at offset: Int64, count: Int) throws -> Data {
        do {
            return try file.read(at: offset, count: count)
        } catch {
            throw store.located(error)
        }
    }
}
