import Foundation
import Synchronization
import Tandem
import TandemSync

/// A server in memory with planned faults.
///
/// For example, a lost response does not create an object twice:
///
/// ```swift
/// let remote = ScriptedRemote()
/// let sync = SyncContext(store: store, remote: remote)
/// try store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
/// remote.next(.loseResponse, on: .insert)
/// try? await sync.push()
/// try await sync.push()
/// #expect(remote.items(in: "Card").count == 1)
/// #expect(remote.requests.map(\.kind) == [.insert, .insert])
/// ```
///
/// It merges updates, and keeps tombstones and versions by default. No two changes have the same time.
public final class ScriptedRemote: Remote {
    /// The origin of new items' IDs.
    public enum IDs: Sendable {
        /// The client that inserts the item.
        case client
        /// The server: `s1`, `s2`. It ignores IDs in inserts.
        case server
    }

    /// The format of values.
    public let format: WireFormat
    private let clock: ManualClock
    private let ids: IDs
    private let softDelete: Bool
    private let versions: Bool
    private let undeletesWithValues: Bool
    /// The member names that the server uses itself.
    public let reservedNames: Set<String>
    /// The behavior that not every server has.
    public let traits: Traits
    let mostInBatch: Int
    let state = Mutex(State())

    /// Creates an empty server.
    ///
    /// - Parameters:
    ///   - format: The format of values.
    ///   - clock: The server's clock. Each change advances it by a millisecond.
    ///   - ids: The origin of new items' IDs.
    ///   - softDelete: Whether deleted items stay as tombstones.
    ///   - versions: Whether items have versions.
    ///   - undeletesWithValues: Whether an undelete includes the values.
    ///   - reservedNames: The member names that the server uses itself.
    ///   - traits: The behavior that not every server has.
    ///   - batchLimit: The maximum number of writes in a batch; 1 if the server has no batches.
    public init(
        format: WireFormat = WireFormat(), clock: ManualClock = ManualClock(), ids: IDs = .client,
        softDelete: Bool = true, versions: Bool = true, undeletesWithValues: Bool = true,
        reservedNames: Set<String> = [], traits: Traits = [], batchLimit: Int = 1
    ) {
        self.format = format
        self.clock = clock
        self.ids = ids
        self.softDelete = softDelete
        self.versions = versions
        self.undeletesWithValues = undeletesWithValues
        self.reservedNames = reservedNames
        self.traits = traits
        mostInBatch = batchLimit
    }

    // MARK: Items

    /// Returns a table's items that are not deleted, by their IDs.
    public func items(in table: RemoteTableName) -> [RemoteItem] {
        all(in: table).filter { !$0.isDeleted }
    }

    /// Returns a table's items and tombstones, by their IDs.
    public func all(in table: RemoteTableName) -> [RemoteItem] {
        state.withLock { state in
            (state.tables[table] ?? [:]).values.sorted { $0.id.rawValue < $1.id.rawValue }
        }
    }

    /// The requests so far, in order of arrival, including lost ones.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }
    /// The writes that arrived in batches so far, by batch, including lost ones.
    public var batches: [[RecordedRequest]] {
        let writes = requests.filter { $0.batch != nil }
        return Dictionary(grouping: writes) { $0.batch ?? 0 }.sorted { $0.key < $1.key }.map(\.value)
    }
    /// The number of calls of `Remote.batchLimit()` so far.
    public var batchLimitRequests: Int { state.withLock { $0.batchLimitRequests } }
    /// Clears the recorded requests.
    public func forgetRequests() { state.withLock { $0.requests = [] } }
    /// The number of current requests.
    public var inFlight: Int { state.withLock { $0.inFlight } }
    /// The maximum number of concurrent requests so far.
    public var mostInFlight: Int { state.withLock { $0.mostInFlight } }

    // MARK: Changes by other devices

    /// Changes an item, or creates it, as another device does.
    ///
    /// - Parameters:
    ///   - table: The item's table.
    ///   - id: The item's ID.
    ///   - change: Changes the members in place. A new item has none.
    public func edit(_ table: RemoteTableName, id: ServerID, change: (inout RemoteItem) -> Void) {
        state.withLock { state in
            var item = state.tables[table]?[id] ?? RemoteItem(id: id, createdAt: time())
            change(&item)
            write(item, in: table, state: &state)
        }
    }

    /// Deletes an item, as another device does.
    ///
    /// - Parameters:
    ///   - table: The item's table.
    ///   - id: The item's ID. An unknown ID is ignored.
    public func remove(_ table: RemoteTableName, id: ServerID) {
        state.withLock { state in
            guard let item = state.tables[table]?[id] else { return }
            _ = erase(item, in: table, state: &state)
        }
    }

    /// Advances the server's clock, or sets it back.
    ///
    /// - Parameter seconds: The number of seconds, negative to set the clock back.
    public func advanceClock(by seconds: TimeInterval) { clock.advance(by: seconds) }

    // MARK: Faults

    /// Plans a fault for the next matching request. Several faults apply in order, one per request.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - match: The requests to which it applies.
    public func next(_ fault: RemoteFault, on match: RequestMatch = .any) {
        state.withLock { $0.faults.append((match, fault)) }
    }

    /// Applies a fault to all matching requests for which no other fault is planned. In a batch, it applies to all of
    /// the batch if it prevents a response.
    ///
    /// - Parameters:
    ///   - fault: The fault.
    ///   - match: The requests.
    public func always(_ fault: RemoteFault, on match: RequestMatch) {
        state.withLock { $0.lastingFaults.append((match, fault)) }
    }

    /// Ends the faults of ``always(_:on:)``.
    public func endLastingFaults() { state.withLock { $0.lastingFaults = [] } }

    // MARK: -

    struct State {
        var tables: [RemoteTableName: [ServerID: RemoteItem]] = [:]
        var requests: [RecordedRequest] = []
        var faults: [(match: RequestMatch, fault: RemoteFault)] = []
        var lastingFaults: [(match: RequestMatch, fault: RemoteFault)] = []
        var batchLimitRequests = 0
        var lastBatch = 0
        /// The late requests, and the number of requests before each arrives.
        var late: [(count: Int, request: Write)] = []
        var inFlight = 0
        var mostInFlight = 0
        var lastVersion = 0
        var lastID = 0
        /// The number of times that each table was removed and created again.
        var generations: [RemoteTableName: Int] = [:]
        /// The number of changes of each table.
        var changes: [RemoteTableName: Int] = [:]
        /// The backoff in each successful response.
        var backoff: Duration?
    }

    /// A request that changes an item.
    struct Write: Sendable {
        let kind: RecordedRequest.Kind
        let item: OutgoingItem
    }

    private func time() -> WireTimestamp? {
        defer { clock.advance(by: 0.001) }
        return WireTimestamp(clock.now(), fractionDigits: 3)
    }

    private func write(_ item: RemoteItem, in table: RemoteTableName, state: inout State) {
        var item = item
        state.lastVersion += 1
        item.version = versions ? "v\(state.lastVersion)" : nil
        item.updatedAt = time()
        state.changes[table, default: 0] += 1
        state.tables[table, default: [:]][item.id] = item
    }

    private func erase(_ item: RemoteItem, in table: RemoteTableName, state: inout State) -> RemoteItem? {
        guard softDelete else {
            state.changes[table, default: 0] += 1
            state.tables[table]?[item.id] = nil
            return nil
        }
        var tombstone = item
        tombstone.isDeleted = true
        write(tombstone, in: table, state: &state)
        return state.tables[table]?[item.id]
    }

    /// Carries out a request without faults.
    func carryOut(_ request: Write, state: inout State) throws(RemoteFailure) -> RemoteResponse {
        let (table, outgoing) = (request.item.table, request.item)
        if request.kind == .insert { return try insert(outgoing, state: &state) }
        guard let id = outgoing.id else {
            throw .notEncodable(
                RequestEncodingError(.missingID, message: "The item has no ID on the server.", table: table))
        }
        guard var item = state.tables[table]?[id] else { throw .notFound }
        if item.isDeleted, request.kind != .undelete { throw .gone }
        if let version = outgoing.version, version != item.version {
            throw .conflict(status: 412, item: item, detail: .init(serverDate: clock.now()))
        }
        switch request.kind {
        case .delete:
            let tombstone = erase(item, in: table, state: &state)
            return response(for: tombstone, state: state)
        case .undelete:
            item.isDeleted = false
            if undeletesWithValues { Self.merge(outgoing, into: &item, all: true) }
        default: Self.merge(outgoing, into: &item, all: false)
        }
        write(item, in: table, state: &state)
        var result = response(for: state.tables[table]?[id], state: state)
        result.tookValues = request.kind != .undelete || undeletesWithValues
        return result
    }

    private func insert(_ outgoing: OutgoingItem, state: inout State) throws(RemoteFailure) -> RemoteResponse {
        let id: ServerID
        if ids == .client, let chosen = outgoing.id {
            id = chosen
        } else {
            state.lastID += 1
            id = ServerID("s\(state.lastID)")
        }
        if let item = state.tables[outgoing.table]?[id], !item.isDeleted || !insertRestoresDeleted {
            throw .conflict(status: 409, item: item, detail: .init(serverDate: clock.now()))
        }
        var item = RemoteItem(id: id, createdAt: WireTimestamp(clock.now(), fractionDigits: 3))
        Self.merge(outgoing, into: &item, all: true)
        write(item, in: outgoing.table, state: &state)
        return response(for: state.tables[outgoing.table]?[id], state: state)
    }

    private static func merge(_ outgoing: OutgoingItem, into item: inout RemoteItem, all: Bool) {
        for member in outgoing.members where all || outgoing.changed.contains(member.key) {
            item.set(member.value, of: member.key)
        }
    }

    private func response(for item: RemoteItem?, state: State) -> RemoteResponse {
        RemoteResponse(item: item, version: item?.version, serverDate: clock.now(), backoff: state.backoff)
    }
}

extension RemoteItem {
    /// Sets a member's value; `nil` removes the member.
    ///
    /// - Parameters:
    ///   - value: The new value.
    ///   - name: The member's name on the wire.
    public mutating func set(_ value: JSONNode?, of name: String) {
        let place = members.firstIndex { $0.key == name }
        switch (place, value) {
        case (let place?, let value?): members[place].value = value
        case (let place?, nil): members.remove(at: place)
        case (nil, let value?): members.append((name, value))
        case (nil, nil): break
        }
    }
}
