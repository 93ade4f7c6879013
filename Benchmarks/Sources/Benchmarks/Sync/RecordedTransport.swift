import HTTPTypes
import Synchronization
import TandemDatasync

/// Replays a server's responses, byte for byte and without delay.
///
/// A pull over it costs only the client's work.
final class RecordedTransport: HTTPTransport {
    private let responses: Mutex<[String: (HTTPResponse, [UInt8])]> = Mutex([:])
    private let held = Mutex<[PullCosts.Held]>([])
    /// The server for unknown requests, whose responses are recorded.
    private let server: (any HTTPTransport)?

    init(_ server: (any HTTPTransport)?) { self.server = server }

    /// Whether to record the memory at each request, which takes time.
    private let notesHeld = Atomic<Bool>(false)

    /// Runs a block, and returns the memory at each of its requests.
    func held(in body: () throws -> Void) throws -> [PullCosts.Held] {
        notesHeld.store(true, ordering: .relaxed)
        defer { notesHeld.store(false, ordering: .relaxed) }
        held.withLock { $0 = [] }
        try body()
        return held.withLock { $0 }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        if notesHeld.load(ordering: .relaxed) { held.withLock { $0.append(.now) } }
        let path = request.path ?? ""
        if let response = responses.withLock({ $0[path] }) { return response }
        guard let server else { throw .notSent(UsageError(problem: "no response is recorded for \(path)")) }
        let response = try await server.send(request, body: body, limit: limit)
        responses.withLock { $0[path] = response }
        return response
    }
}

/// Counts the requests to a server.
final class CountingTransport: HTTPTransport {
    private let transport: any HTTPTransport
    private let counter = Atomic<Int>(0)

    init(_ transport: any HTTPTransport) { self.transport = transport }

    var count: Int { counter.load(ordering: .relaxed) }

    func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        counter.add(1, ordering: .relaxed)
        return try await transport.send(request, body: body, limit: limit)
    }
}
