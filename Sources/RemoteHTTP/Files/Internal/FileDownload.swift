import HTTPTypes
import Synchronization
import Tandem
import TandemSync

/// Decodes the response to a `GET` of a file, and delivers its bytes.
package final class FileDownload: Sendable {
    private struct State {
        var file: ServedFile?
        /// The offset in the file of the response's next byte.
        var place: Int64 = 0
    }

    private let exchange: FileExchange
    private let wanted: RemoteFile
    private let offset: Int64
    private let receive: @Sendable (FilePiece) async throws -> Void
    private let state = Mutex(State())

    package init(
        _ exchange: FileExchange, wanted: RemoteFile, from offset: Int64,
        to receive: @escaping @Sendable (FilePiece) async throws -> Void
    ) {
        self.exchange = exchange
        self.wanted = wanted
        self.offset = offset
        self.receive = receive
    }

    /// Returns the header fields of a request for the file from the offset on.
    package static func fields(_ file: RemoteFile, from offset: Int64) -> HTTPFields {
        // Compression in transit would change the body's length.
        var fields: HTTPFields = [.acceptEncoding: "identity"]
        if offset > 0 { fields[.range] = "bytes=\(offset)-" }
        if let etag = file.etag { fields[.ifMatch] = "\"\(etag)\"" }
        return fields
    }

    /// Processes a piece of the response.
    package func piece(_ response: HTTPResponse, bytes: [UInt8]) async throws {
        let file = try begin(response)
        var bytes = bytes
        let place = state.withLock { state in
            defer { state.place += Int64(bytes.count) }
            return state.place
        }
        guard place + Int64(bytes.count) <= file.size else {
            throw exchange.bad(
                .size, message: "The response has more bytes than the file.", status: response.status.code)
        }
        // A server without support for ranges sends the whole file.
        var start = place
        if start < offset {
            let skipped = min(Int64(bytes.count), offset - start)
            bytes.removeFirst(Int(skipped))
            start += skipped
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = FilePiece(bytes: Array(rest.prefix(FilePiece.greatestSize)), offset: start, file: file)
            rest = rest.dropFirst(piece.bytes.count)
            start += Int64(piece.bytes.count)
            do {
                try await receive(piece)
            } catch is CancellationError where Task.isCancelled {
                throw CancellationError()
            } catch {
                throw RemoteFailure.file(.receiverFailed(error))
            }
        }
    }

    /// Returns the server's description of the file, after the response is complete.
    package func end(_ response: HTTPResponse) throws(RemoteFailure) -> ServedFile {
        let file = try begin(response)
        guard state.withLock({ $0.place }) == file.size else {
            throw exchange.bad(
                .size, message: "The response has fewer bytes than the file.", status: response.status.code)
        }
        return file
    }

    /// Returns the file that the head describes. Decodes the head once.
    private func begin(_ response: HTTPResponse) throws(RemoteFailure) -> ServedFile {
        if let file = state.withLock({ $0.file }) { return file }
        let (file, place) = try head(response)
        state.withLock { state in
            state.file = file
            state.place = place
        }
        return file
    }

    private func head(_ response: HTTPResponse) throws(RemoteFailure) -> (ServedFile, place: Int64) {
        let fields = FileFields(response)
        let status = response.status.code
        guard fields.isPlain else {
            throw exchange.bad(.wrongType, message: "The file has a content encoding.", status: status)
        }
        var place: Int64 = 0
        let size: Int64
        switch status {
        case 200:
            // A chunked body has no length. The known size then limits it, or an endless body would pass.
            guard let length = fields.length ?? wanted.size else {
                throw exchange.bad(.size, message: "The response does not state the size of the file.", status: status)
            }
            size = length
        case 206:
            guard let range = fields.range, range.first == offset, range.last == range.size - 1,
                fields.length.map({ $0 == range.size - offset }) ?? true
            else {
                throw exchange.bad(
                    .size, message: "The response has another range than the requested one.", status: status)
            }
            (size, place) = (range.size, range.first)
        default: throw exchange.bad(.status, message: "The status is not valid for this response.", status: status)
        }
        if let etag = wanted.etag, let found = fields.etag, etag != found { throw .file(.changed) }
        if let known = wanted.size, known != size {
            throw exchange.bad(
                .size, message: "The server's file has \(size) bytes, but its known size is \(known).", status: status)
        }
        guard offset <= size else { throw .file(.changed) }
        return (ServedFile(size: size, etag: fields.etag, sha256: fields.sha256), place)
    }
}
