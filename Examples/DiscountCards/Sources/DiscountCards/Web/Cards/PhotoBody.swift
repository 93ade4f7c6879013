import Foundation
import Hummingbird
import NIOCore
import PageServer

/// The pieces of an uploaded photograph, to be read once. The sequence throws if they are too many.
struct PhotoBody: AsyncSequence {
    typealias Element = Data

    /// The first pieces, which have been read to recognize the picture.
    private let head: ByteBuffer
    private let rest: RequestBody.AsyncIterator
    private let limit: Int
    let type: PhotoType

    /// Reads the beginning of a body.
    ///
    /// - Throws: ``WebFailure`` if it is not the beginning of a picture.
    init(_ body: RequestBody, limit: Int) async throws {
        var head = ByteBuffer()
        var pieces = body.makeAsyncIterator()
        while head.readableBytes < PhotoType.headLength, let piece = try await pieces.next() {
            head.writeImmutableBuffer(piece)
        }
        guard let type = PhotoType(head.readableBytesView) else {
            throw WebFailure(.unsupportedMediaType, message: "This file is not a picture that browsers show.")
        }
        (self.head, rest, self.limit, self.type) = (head, pieces, limit, type)
    }

    func makeAsyncIterator() -> Iterator { Iterator(head: head, rest: rest, limit: limit, count: 0) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var head: ByteBuffer?
        fileprivate var rest: RequestBody.AsyncIterator
        fileprivate let limit: Int
        fileprivate var count: Int

        mutating func next() async throws -> Data? {
            let piece: ByteBuffer?
            if let head {
                piece = head
                self.head = nil
            } else {
                piece = try await rest.next()
            }
            guard let piece else { return nil }
            count += piece.readableBytes
            guard count <= limit else { throw WebFailure.largePhoto(limit: limit) }
            return Data(piece.readableBytesView)
        }
    }
}

extension WebFailure {
    /// Returns the failure for a photograph with more bytes than the limit.
    static func largePhoto(limit: Int) -> WebFailure {
        WebFailure(.contentTooLarge, message: "The photo is too large: at most \(limit >> 20) MB.")
    }
}
