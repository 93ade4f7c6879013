import Foundation
import Synchronization
import Tandem
import TandemSync

/// A fast in-memory server that only supports pages, for thousands of pulls. A test changes its rows between requests.
final class PagedServer: Remote {
    struct Row: Sendable {
        var id: String
        var version: Int
        /// Milliseconds since 1970.
        var time: Int64
        /// The microseconds that the server stores, and never sends.
        var microseconds: Int64 = 0
        var isDeleted = false
        var name: String
    }

    struct State: Sendable {
        var rows: [String: Row] = [:]
        /// Milliseconds since 1970.
        var now: Int64 = 1_795_000_000_000
        var versions = 0
        /// Whether times are stored more precisely than they are sent, as in PostgreSQL. The order within a millisecond
        /// is then neither that of the IDs nor visible to a client.
        var isFine = false
        /// The generation in each page; `nil` if the server has none.
        var generation: String?
        /// The change tag of each table; `nil` if the server has none.
        var tag: String?
        var tagRequests = 0
        var requests: [PageRequest] = []

        /// Writes a row now, or with the time of a transaction that began earlier.
        mutating func write(_ id: String, _ name: String, late: Int64 = 0, deleted: Bool = false) {
            versions += 1
            rows[id] = Row(
                id: id, version: versions, time: now - late,
                // All thousand values, in their own order.
                microseconds: isFine ? Int64(versions) * 389 % 1000 : 0, isDeleted: deleted, name: name)
        }

        var live: [String: String] { rows.values.filter { !$0.isDeleted }.reduce(into: [:]) { $0[$1.id] = $1.name } }
    }

    /// A closure that runs before the response to a request, and may replace it.
    typealias Event = @Sendable (inout State, PageRequest) throws(RemoteFailure) -> RemotePage?

    let format = WireFormat()
    let state = Mutex(State())
    private let event: Mutex<Held>
    /// NB: A closure stored directly in a mutex grows with each access: the compiler wraps it again on its way in and
    /// out.
    private struct Held {
        var event: Event
    }
    private let hasClock: Bool

    init(hasClock: Bool = true, _ event: @escaping Event = { _, _ in nil }) {
        self.hasClock = hasClock
        self.event = Mutex(Held(event: event))
    }

    func on(_ event: @escaping Event) { self.event.withLock { $0.event = event } }
    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
    var live: [String: String] { state.withLock(\.live) }
    var requests: [PageRequest] { state.withLock(\.requests) }

    func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
        let event = event.withLock(\.event)
        return try state.withLock { state throws(RemoteFailure) in
            state.requests.append(request)
            if let page = try event(&state, request) { return page }
            return Self.page(request, state, hasClock)
        }
    }

    static func page(_ request: PageRequest, _ state: State, _ hasClock: Bool = true) -> RemotePage {
        var rows = state.rows.values.filter { request.includeDeleted || !$0.isDeleted }
        switch request.order {
        case .updatedAt(let place):
            if let place {
                let from = place.seconds * 1000 + place.nanoseconds / 1_000_000
                rows.removeAll { $0.time < from }
            }
            rows.sort { ($0.time, $0.microseconds, $0.id) < ($1.time, $1.microseconds, $1.id) }
        case .id(let last):
            if let last { rows.removeAll { $0.id <= last.rawValue } }
            rows.sort { $0.id < $1.id }
        }
        let page = rows.dropFirst(request.skip).prefix(request.top)
        return RemotePage(
            items: page.map(item), hasMore: page.count >= request.top, count: request.wantsCount ? rows.count : nil,
            // Truncated to the second, as in the header.
            serverDate: hasClock ? Date(timeIntervalSince1970: Double(state.now / 1000)) : nil,
            generation: state.generation)
    }

    static func item(_ row: Row) -> RemoteItem {
        RemoteItem(
            id: ServerID(row.id), version: "\(row.version)", updatedAt: time(row.time), isDeleted: row.isDeleted,
            members: [("petName", .text(row.name)), ("keeper", .null)])
    }

    static func time(_ milliseconds: Int64) -> WireTimestamp? {
        // Not from a date with milliseconds, which it represents only approximately.
        let seconds = WireTimestamp(Date(timeIntervalSince1970: Double(milliseconds / 1000)), fractionDigits: 0)
        let digits = String(1000 + milliseconds % 1000).dropFirst()
        return seconds.flatMap { WireTimestamp("\($0.text.dropLast()).\(digits)Z") }
    }

    func changeTag(of table: RemoteTableName) async throws(RemoteFailure) -> String? {
        state.withLock { state in
            state.tagRequests += 1
            return state.tag
        }
    }

    // MARK: Unsupported requests

    private var no: RemoteFailure { .refused(status: 405, message: "This server only pages.") }
    func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? { throw no }
    func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw no }
    func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw no }
    func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw no }
    func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw no }
}

/// A device that pulls pets from such a server.
struct PagedDevice: Sendable {
    let server: PagedServer
    let store: Store
    let options: SyncContext.Options

    /// - Parameter ahead: Whether also a short pull requests pages ahead.
    init(_ server: PagedServer, pageSize: Int = 3, overlap: Duration = .seconds(30), ahead: Bool = false) throws {
        self.server = server
        var options = SyncContext.Options()
        options.pageSize = pageSize
        options.overlap = overlap
        if ahead { options.itemsBeforePagesAhead = 0 }
        options.clock = PagedClock(server: server)
        self.options = options
        store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
    }

    /// A new context each time, as after a restart.
    var context: SyncContext { SyncContext(store: store, remote: server, options: options) }

    @discardableResult
    func pull(_ queryID: String? = "pets") async throws -> SyncResult {
        try await context.pull(Pet.self, queryID: queryID)
    }

    /// Returns the local pets, by server ID.
    func pets() throws -> [String: String] {
        try store.objects(Pet.self).all().reduce(into: [:]) { $0[$1.serverID?.rawValue ?? "?"] = $1.name }
    }

    func token(_ queryID: String = "pets") async throws -> SyncToken? {
        try await TandemStore(store).read { local in try local.syncToken(of: queryID, in: "Pet") }
    }
}

/// A device clock that follows the server's.
struct PagedClock: SyncClock {
    let server: PagedServer
    func now() -> Date { Date(timeIntervalSince1970: Double(server.state.withLock(\.now)) / 1000) }
    func sleep(for duration: Duration) async throws { try Task.checkCancellation() }
}
