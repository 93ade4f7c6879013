import DatasyncWire
import Foundation
import HTTPTypes
import Synchronization
import TandemServerCore
import TandemSync
import TandemTesting

/// A transport of files to a server in this process, like HTTP. Excess bytes are cut off, and missing bytes are a
/// broken connection. It counts the sent bytes.
final class InProcessFileTransport: FileTransport {
    struct Broken: Error {}

    let core: ServerCore
    private let state = Mutex<(requests: [String], sent: Int64)>(([], 0))

    init(_ configure: (inout ServerConfiguration) -> Void = { _ in }) throws {
        var configuration = ServerConfiguration(dialect: .datasync)
        configuration.files = ServerFiles(.inMemory())
        configure(&configuration)
        core = try ServerCore.inMemory(configuration: configuration)
    }

    /// The methods of the requests.
    var requests: [String] { state.withLock { $0.requests } }
    /// The number of sent body bytes.
    var sent: Int64 { state.withLock { $0.sent } }
    var fileServer: FileStorage { core.configuration.files!.storage }

    func exchange(
        _ request: HTTPRequest, body: FileBody?,
        receive: @escaping @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws(TransportFailure) -> HTTPResponse {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        state.withLock { $0.requests.append(request.method.rawValue) }
        var request = request
        if let body { request.headerFields[.contentLength] = String(body.count) }
        var sent: Int64 = 0
        var thrown: (any Error)?
        let outcome = await core.exchangeFile(request) {
            guard let body, sent < body.count else { return nil }
            do {
                let piece = try await body.piece(sent)
                sent += Int64(piece.count)
                state.withLock { $0.sent += Int64(piece.count) }
                return piece
            } catch {
                thrown = error
                throw error
            }
        }
        guard case .response(let response, let content) = outcome else { throw .lost(thrown ?? Broken()) }
        do {
            let length = response.headerFields[.contentLength].flatMap { Int64($0) } ?? 0
            var received: Int64 = 0
            while request.method != .head, received < length, let piece = try await content?.piece(after: received) {
                let piece = Array(piece.prefix(Int(length - received)))
                received += Int64(piece.count)
                try await receive(response, piece)
            }
            if request.method != .head, received < length { throw Broken() }
            return response
        } catch {
            throw .lost(error)
        }
    }
}

/// A transport without a server: a closure responds.
struct ScriptedFileTransport: FileTransport {
    typealias Response = (response: HTTPResponse, pieces: [[UInt8]])
    let respond: @Sendable (HTTPRequest) throws -> Response

    func exchange(
        _ request: HTTPRequest, body: FileBody?,
        receive: @escaping @Sendable (HTTPResponse, [UInt8]) async throws -> Void
    ) async throws(TransportFailure) -> HTTPResponse {
        do {
            let (response, pieces) = try respond(request)
            var sent: Int64 = 0
            while let body, sent < body.count { sent += Int64(try await body.piece(sent).count) }
            for piece in pieces { try await receive(response, piece) }
            return response
        } catch {
            throw .lost(error)
        }
    }
}

/// Random files that depend on a seed only.
enum Sample {
    static let id = "00112233445566778899aabbccddeeff"

    static func file(_ count: Int, id: String = id, name: String = "чек № 1.jpg", seed: UInt64 = 1) -> OutgoingFile {
        OutgoingFile(id: id, name: name, contentType: "image/jpeg", bytes: bytes(count, seed: seed))
    }

    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count {
            withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        return Array(bytes.prefix(count))
    }
}

/// The received pieces of a file.
final class Basket: Sendable {
    private let pieces = Mutex<[FilePiece]>([])

    var bytes: [UInt8] { all.reduce(into: []) { $0 += $1.bytes } }
    var all: [FilePiece] { pieces.withLock { $0 } }

    func take(_ piece: FilePiece) { pieces.withLock { $0.append(piece) } }
}

extension RemoteFiles {
    /// Returns a file's bytes, or those after an offset.
    func fetch(_ file: RemoteFile, from offset: Int64 = 0) async throws -> [UInt8] {
        let basket = Basket()
        _ = try await download(file, from: offset) { basket.take($0) }
        return basket.bytes
    }
}

/// Returns the error of a body in one line.
func failure<T>(_ body: () async throws -> T) async -> String {
    do {
        _ = try await body()
        return "nothing"
    } catch let error as RemoteFailure {
        return switch error {
        case .notSent(let error): "not sent: \(type(of: error))"
        case .lost(let error): "lost: \(type(of: error))"
        case .unauthenticated: "unauthenticated"
        case .conflict: "conflict"
        case .gone: "gone"
        case .notFound: "not found"
        case .refused(let status, let message): "refused \(status): \(message)"
        case .outdatedPosition(let status, _): "outdated position \(status)"
        case .later(let status, _): "later \(status)"
        case .invalidResponse(let response): "bad \(response.code)"
        case .notEncodable(let problem): "notEncodable \(problem.code)"
        case .file(.unreadable(let error)): "unreadable: \(error)"
        case .file(.receiverFailed(let error)): "not taken: \(error)"
        case .file(let problem): "\(problem)".contains("version") ? "changed" : "\(problem)"
        }
    } catch {
        return "\(error)"
    }
}
