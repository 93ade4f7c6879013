import Foundation
import HTTPTypes
import RemoteHTTP
import Synchronization
import Tandem
import Testing

/// A small Kinto in memory. It is strict: it refuses requests that a real server refuses or misreads.
final class FakeKinto: HTTPTransport {
    /// A deviation of one request.
    enum Fault: Sendable {
        /// The request does not arrive.
        case lostRequest
        /// The response does not arrive.
        case lostResponse
        /// The request has no effect and this response.
        case response(Int, HTTPFields = [.contentType: "application/json"], String = "")
        /// Another writer chooses the same time as the batch's request at an index, or as a single write.
        case contention(at: Int = 0)
        /// The request is carried out, and the response has these fields too.
        case fields(HTTPFields)
        /// The request waits until the gate is open.
        case wait(Gate)
    }

    struct Record: Sendable {
        var members: [(key: String, value: JSONNode)] = []
        var time: Int64
        var isDeleted = false
    }

    struct Collection: Sendable {
        var members: [(key: String, value: JSONNode)]
        var created: Int64
        /// The time of the last change of any record.
        var time: Int64
        var records: [String: Record] = [:]
    }

    /// The records of a collection with a permission for the user.
    struct Sharing: Sendable {
        var visible: Set<String> = []
        /// The visible records that the user may only read.
        var readOnly: Set<String> = []
        /// Whether the user has the permission `record:create`.
        var mayCreate = false
    }

    struct State: Sendable {
        var buckets: [String: [String: Collection]] = [:]
        /// The clock, in milliseconds. Each write advances it.
        var now: Int64 = 1_795_613_000_000
        var faults: [Fault] = []
        var requests: [String] = []
        var bodies: [String] = []
        var heads: [HTTPRequest] = []
        var batchMaximum: JSONNode = .integer(25)
        var pageMaximum = 10_000
        /// The accepted values of `Authorization`; `nil` for all requests.
        var accepted: Set<String>?
        /// The collections without permission to write.
        var readOnly: Set<String> = []
        /// The collections of which the user sees only some records.
        var shared: [String: Sharing] = [:]
        /// Whether the user may write collections of which all records are visible.
        var mayWriteCollections = true
        /// The permissions of records, by their IDs.
        var permissions: [String: [String: Set<String>]] = [:]
        /// The current user's ID; `nil` without credentials.
        var user: String? = "account:me"
        var mayCreateBuckets = true
        var writes = 0
        /// The bytes of attached files by their URLs, and the capability of the plugin.
        var files: [String: [UInt8]] = [:]
        var attachments: JSONNode? = .object([("base_url", .text(FakeKinto.folder))])
        var greatestWritesInFlight = 0
        var writesInFlight = 0
    }

    let state = Mutex(State())

    init(_ collections: String..., bucket: String = "b") {
        guard !collections.isEmpty else { return }
        state.withLock { state in
            for name in collections {
                state.now += 1
                state.buckets[bucket, default: [:]][name] = Collection(
                    members: [], created: state.now, time: state.now)
            }
        }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8], limit: Int
    ) async throws(TransportFailure) -> (HTTPResponse, [UInt8]) {
        let isWrite = request.method != .get && request.method != .head
        var fault = state.withLock { state -> Fault? in
            state.requests.append("\(request.method.rawValue) \(request.path ?? "")")
            state.bodies.append(String(decoding: body, as: UTF8.self))
            state.heads.append(request)
            if isWrite {
                state.writesInFlight += 1
                state.greatestWritesInFlight = max(state.greatestWritesInFlight, state.writesInFlight)
            }
            return state.faults.isEmpty ? nil : state.faults.removeFirst()
        }
        defer { if isWrite { state.withLock { $0.writesInFlight -= 1 } } }
        if case .wait(let gate)? = fault {
            do {
                try await gate.wait()
            } catch {
                throw .lost(error)
            }
            fault = nil
        }
        // Another task runs here.
        await Task.yield()
        let (response, bytes): (HTTPResponse, [UInt8])
        switch fault {
        case .lostRequest?: throw .notSent(Lost())
        case .response(let status, let fields, let text)?:
            return (HTTPResponse(status: .init(code: status), headerFields: fields), Array(text.utf8))
        case .contention(let index)?: (response, bytes) = respond(to: request, body: body, contention: index)
        case .fields(let fields)?:
            var (head, text) = respond(to: request, body: body)
            for field in fields { head.headerFields.append(field) }
            (response, bytes) = (head, text)
        case .lostResponse?, .wait?, nil: (response, bytes) = respond(to: request, body: body)
        }
        if case .lostResponse? = fault { throw .lost(Lost()) }
        guard bytes.count <= limit else { throw .tooLarge }
        return (response, bytes)
    }

    struct Lost: Error {}
}

// MARK: - The test's access

extension FakeKinto {
    var requests: [String] { state.withLock { $0.requests } }
    var bodies: [String] { state.withLock { $0.bodies } }
    var heads: [HTTPRequest] { state.withLock { $0.heads } }

    /// Waits until a number of requests has arrived.
    func waitForRequests(_ count: Int = 1) async throws {
        for _ in 0..<20_000 where requests.count < count { try await Task.sleep(for: .milliseconds(1)) }
        try #require(requests.count >= count)
    }

    func clearLog() {
        state.withLock { state in
            state.requests = []
            state.bodies = []
            state.heads = []
        }
    }

    func fail(_ faults: Fault...) { state.withLock { $0.faults += faults } }

    /// Writes a record as another client does. Returns its time.
    @discardableResult
    func put(_ id: String, _ members: [(key: String, value: JSONNode)] = [], in name: String = "Card") -> Int64 {
        state.withLock { state in
            let time = state.tick("b", name)
            state.buckets["b"]?[name]?.records[id] = Record(members: members, time: time)
            return time
        }
    }

    /// Deletes a record as another client does. Returns the time of its tombstone.
    @discardableResult
    func delete(_ id: String, in name: String = "Card") -> Int64 {
        state.withLock { state in
            let time = state.tick("b", name)
            state.buckets["b"]?[name]?.records[id] = Record(time: time, isDeleted: true)
            return time
        }
    }

    func record(_ id: String, in name: String = "Card") -> Record? {
        state.withLock { $0.buckets["b"]?[name]?.records[id] }
    }

    /// The IDs of the live records.
    func live(in name: String = "Card") -> [String] {
        state.withLock { state in
            (state.buckets["b"]?[name]?.records ?? [:]).filter { !$0.value.isDeleted }.keys.sorted()
        }
    }
}

extension FakeKinto.State {
    /// Advances the clock, and returns the time of a write.
    mutating func tick(_ bucket: String, _ name: String) -> Int64 {
        now += 1
        let time = max(now, (buckets[bucket]?[name]?.time ?? 0) + 1)
        buckets[bucket]?[name]?.time = time
        writes += 1
        return time
    }
}

/// A gate that a test opens.
final class Gate: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    /// Waits until the gate is open, or the task is cancelled.
    func wait() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
