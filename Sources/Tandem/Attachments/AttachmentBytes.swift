import Foundation

/// A sequence of a file's bytes in pieces. See ``AttachmentStore/stream(of:)``.
public struct AttachmentBytes: AsyncSequence, Sendable {
    /// A piece of the file.
    public typealias Element = Data

    /// The maximum size of a piece, in bytes.
    static let pieceSize = 1 << 20

    let file: BlobReader
    let store: Store

    /// The total number of bytes.
    public var size: Int64 { file.size }

    /// Creates an iterator that begins at the first byte.
    public func makeAsyncIterator() -> Iterator { Iterator(file: file, store: store) }

    /// An iterator over a file's pieces.
    public struct Iterator: AsyncIteratorProtocol {
        let file: BlobReader
        let store: Store
        private var offset: Int64 = 0

        init(file: BlobReader, store: Store) {
            self.file = file
            self.store = store
        }

        /// Returns the next piece, or `nil` at the end.
        ///
        /// - Throws: ``TandemError/Code/corrupt`` if the file was truncated or changed; `CancellationError`.
        public mutating func next() async throws -> Data? {
            try Task.checkCancellation()
            guard offset < file.size else { return nil }
            let piece = try store.located { try file.read(at: offset, count: AttachmentBytes.pieceSize) }
            offset += Int64(piece.count)
            return piece
        }
    }
}
