import Crypto
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemTesting

/// The location of a test's storage.
enum StorageKind: CaseIterable {
    case memory, folder
}

/// A file server without a socket.
final class FileFixture: Sendable {
    /// A response with its complete body.
    struct Response {
        let status: Int
        let fields: HTTPFields
        let body: [UInt8]
        /// Whether the body ended early.
        let isCut: Bool

        subscript(_ name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }
    }

    let core: ServerCore
    let storage: FileStorage
    let folder: TemporaryFolder

    init(
        _ kind: StorageKind, clock: ServerClock = ServerClock(),
        _ configure: (inout ServerConfiguration) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        storage =
            try kind == .memory ? .inMemory(clock: clock) : .inFolder(at: folder.path(of: "storage"), clock: clock)
        var configuration = ServerConfiguration(dialect: .datasync)
        configuration.files = ServerFiles(storage)
        configure(&configuration)
        core = try ServerCore.inMemory(configuration: configuration)
    }

    deinit { folder.remove() }

    /// Sends a request. Returns `nil` if there is no response.
    ///
    /// - Parameter ending: The number of body bytes after which the request's connection breaks.
    func ask(
        _ method: HTTPRequest.Method, _ path: String, _ fields: [String: String] = [:], _ body: [UInt8] = [],
        ending: Int? = nil
    ) async throws -> Response? {
        var request = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
        if method == .put { request.headerFields[.contentLength] = String(body.count) }
        for (name, value) in fields { request.headerFields[HTTPField.Name(name)!] = value }
        var sent = 0
        let outcome = await core.exchangeFile(request) {
            if let ending, sent >= ending { throw CocoaError(.fileReadUnknown) }
            let piece = Array(body[sent..<min(body.count, sent + 1000, ending ?? .max)])
            sent += piece.count
            return piece.isEmpty ? nil : piece
        }
        guard case .response(let response, let content) = outcome else { return nil }
        var received: [UInt8] = []
        var isCut = false
        do {
            while let piece = try await content?.piece(after: Int64(received.count)) { received += piece }
        } catch is FileContent.Cut {
            isCut = true
        }
        return Response(
            status: response.status.code, fields: response.headerFields, body: received, isCut: isCut)
    }

    /// Uploads a whole file.
    func put(
        _ id: String, _ bytes: [UInt8], _ fields: [String: String] = [:], ending: Int? = nil
    ) async throws -> Response? {
        var all = ["Repr-Digest": Self.digest(bytes), "If-None-Match": "*"]
        all.merge(fields) { $1 }
        return try await ask(.put, "/files/\(id)", all, bytes, ending: ending)
    }

    /// Uploads a part of a file.
    func put(
        _ id: String, _ range: Range<Int>, of bytes: [UInt8], ending: Int? = nil
    ) async throws -> Response? {
        let fields = [
            "Repr-Digest": Self.digest(bytes),
            "Content-Range": "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)",
        ]
        return try await ask(.put, "/files/\(id)", fields, Array(bytes[range]), ending: ending)
    }

    static func digest(_ bytes: [UInt8]) -> String {
        "sha-256=:\(Data(SHA256.hash(data: bytes)).base64EncodedString()):"
    }

    static let id = "00112233445566778899aabbccddeeff"
    static let other = "ff112233445566778899aabbccddeeff"

    static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}

extension FileFixture {
    /// Returns a request for a file.
    static func request(
        _ method: HTTPRequest.Method, _ id: String, _ fields: [String: String] = [:]
    ) -> HTTPRequest? {
        var request = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: "/files/\(id)")
        for (name, value) in fields {
            guard let name = HTTPField.Name(name) else { return nil }
            request.headerFields[name] = value
        }
        return request
    }
}
