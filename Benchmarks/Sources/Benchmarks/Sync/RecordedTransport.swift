import HTTPTypes
import Synchronization
import TandemDatasync

/// Answers as a server did once, byte for byte and at once: what a pull costs over it is the client's alone.
final class RecordedTransport: HTTPTransport {
    private let answers: Mutex<[String: (HTTPResponse, [UInt8])]> = Mutex([:])
    private let held = Mutex<[PullCosts.Held]>([])
    /// Whom unknown requests go to; their answers are kept.
    private let server: (any HTTPTransport)?

    init(_ server: (any HTTPTransport)?) { self.server = server }

    /// Whether it is noted what the process holds at each request: to look at all that is allocated takes its time.
    private let notesHeld = Atomic<Bool>(false)

    /// What the process held at each request that a block made.
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
        if let answer = answers.withLock({ $0[path] }) { return answer }
        guard let server else { throw .notSent(UsageError(problem: "nobody has asked for \(path) before")) }
        let answer = try await server.send(request, body: body, limit: limit)
        answers.withLock { $0[path] = answer }
        return answer
    }
}

/// Counts what is asked of a server.
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
