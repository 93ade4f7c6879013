import HTTPTypes
import HeapSize
import Synchronization
import TandemDatasync

/// Answers as a server did once, byte for byte and at once: what a pull costs over it is the client's alone.
final class RecordedTransport: HTTPTransport {
    private let answers: Mutex<[String: (HTTPResponse, [UInt8])]> = Mutex([:])
    private let heap = Mutex<[UInt64]>([])
    /// Whom unknown requests go to; their answers are kept.
    private let server: (any HTTPTransport)?

    init(_ server: (any HTTPTransport)?) { self.server = server }

    /// How many bytes the process had allocated at each request since the last call.
    func takeHeapSizes() -> [UInt64] {
        heap.withLock { sizes in
            defer { sizes = [] }
            return sizes
        }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        heap.withLock { $0.append(heap_size()) }
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
