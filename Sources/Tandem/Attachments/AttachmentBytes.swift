import Foundation

/// A file's bytes in pieces: see ``StoreAttachments/stream(of:)``.
public struct AttachmentBytes: AsyncSequence, Sendable {
    public typealias Element = Data

    /// The most bytes of a piece.
    static let pieceSize = 1 << 20

    let file: FileReading
    let store: Store

    /// The number of bytes in all.
    public var size: Int64 { file.size }

    public func makeAsyncIterator() -> Iterator { Iterator(file: file, store: store) }

    public struct Iterator: AsyncIteratorProtocol {
        let file: FileReading
        let store: Store
        private var offset: Int64 = 0

        init(file: FileReading, store: Store) {
            self.file = file
            self.store = store
        }

        /// The next piece; `nil` at the end.
        ///
        /// - Throws: ``TandemError/Code/corrupt`` if the file was cut or changed; `CancellationError`.
        public mutating func next() async throws -> Data? {
            try Task.checkCancellation()
            guard offset < file.size else { return nil }
            do {
                let piece = try file.read(at: offset, count: AttachmentBytes.pieceSize)
                offset += Int64(piece.count)
                return piece
            } catch {
                throw store.located(error)
            }
        }
    }
}
