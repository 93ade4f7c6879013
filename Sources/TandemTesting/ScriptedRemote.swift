import Foundation
import Synchronization
import Tandem
import TandemSync

/// A server in memory, which goes wrong when it is told to.
///
/// For example, an answer that is lost, and an object that is created once all the same:
///
/// ```swift
/// let remote = ScriptedRemote()
/// let sync = SyncContext(store: store, remote: remote)
/// try store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
/// remote.next(.loseAnswer, on: .insert)
/// try? await sync.push()
/// try await sync.push()
/// #expect(remote.items(in: "Card").count == 1)
/// #expect(remote.requests.map(\.kind) == [.insert, .insert])
/// ```
///
/// It merges updates, keeps tombstones and versions unless told otherwise, and never gives two changes one time.
public final class ScriptedRemote: Remote {
    /// Who makes the IDs of new items.
    public enum IDs: Sendable {
        /// Those who insert them.
        case client
        /// The server: `s1`, `s2`. IDs that come with an item are not looked at.
        case server
    }

    public let format: WireFormat
    private let clock: ManualClock
    private let ids: IDs
    private let softDelete: Bool
    private let versions: Bool
    private let undeletesWithValues: Bool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - clock: The server's clock. It goes on by a millisecond with each change.
    ///   - softDelete: Whether deleted items stay as tombstones.
    ///   - versions: Whether items have versions.
    ///   - undeletesWithValues: Whether an undelete takes the values along.
    public init(
        format: WireFormat = WireFormat(), clock: ManualClock = ManualClock(), ids: IDs = .client,
        softDelete: Bool = true, versions: Bool = true, undeletesWithValues: Bool = true
    ) {
        self.format = format
        self.clock = clock
        self.ids = ids
        self.softDelete = softDelete
        self.versions = versions
        self.undeletesWithValues = undeletesWithValues
    }

    // MARK: What it has

    /// A table's items that are not deleted, by their IDs.
    public func items(in table: RemoteTableName) -> [RemoteItem] {
        all(in: table).filter { !$0.isDeleted }
    }

    /// A table's items and tombstones, by their IDs.
    public func all(in table: RemoteTableName) -> [RemoteItem] {
        state.withLock { state in
            (state.tables[table] ?? [:]).values.sorted { $0.id.rawValue < $1.id.rawValue }
        }
    }

    /// What it was asked, in the order in which it arrived; also what was then lost.
    public var requests: [RecordedRequest] { state.withLock { $0.requests } }
    /// Forgets what it was asked.
    public func forgetRequests() { state.withLock { $0.requests = [] } }
    /// How many requests are under way.
    public var inFlight: Int { state.withLock { $0.inFlight } }
    /// How many requests were under way at one time, at most.
    public var mostInFlight: Int { state.withLock { $0.mostInFlight } }

    // MARK: What others do

    /// Another device changes an item, or creates it.
    public func edit(_ table: RemoteTableName, _ id: ServerID, _ change: (inout RemoteItem) -> Void) {
        state.withLock { state in
            var item = state.tables[table]?[id] ?? RemoteItem(id: id, createdAt: time())
            change(&item)
            write(item, table, &state)
        }
    }

    /// Another device deletes an item.
    public func remove(_ table: RemoteTableName, _ id: ServerID) {
        state.withLock { state in
            guard let item = state.tables[table]?[id] else { return }
            _ = erase(item, table, &state)
        }
    }

    /// Sets the server's clock on, or back.
    public func advanceClock(by seconds: TimeInterval) { clock.advance(by: seconds) }

    // MARK: What goes wrong

    /// The next request that matches goes wrong in a way. Several for one request are used up in their order, one each.
    public func next(_ fault: RemoteFault, on match: RequestMatch = .any) {
        state.withLock { $0.faults.append((match, fault)) }
    }

    // MARK: -

    struct State {
        var tables: [RemoteTableName: [ServerID: RemoteItem]] = [:]
        var requests: [RecordedRequest] = []
        var faults: [(match: RequestMatch, fault: RemoteFault)] = []
        /// What is still on its way, and before how many more requests.
        var late: [(count: Int, request: Write)] = []
        var inFlight = 0
        var mostInFlight = 0
        var lastVersion = 0
        var lastID = 0
    }

    /// A request that changes something.
    struct Write: Sendable {
        let kind: RecordedRequest.Kind
        let item: OutgoingItem
    }

    func withState<T>(_ body: (inout State) throws(RemoteFailure) -> T) throws(RemoteFailure) -> T {
        try state.withLock { state throws(RemoteFailure) in try body(&state) }
    }

    private func time() -> WireTimestamp? {
        defer { clock.advance(by: 0.001) }
        return WireTimestamp(clock.now(), fractionDigits: 3)
    }

    private func write(_ item: RemoteItem, _ table: RemoteTableName, _ state: inout State) {
        var item = item
        state.lastVersion += 1
        item.version = versions ? "v\(state.lastVersion)" : nil
        item.updatedAt = time()
        state.tables[table, default: [:]][item.id] = item
    }

    private func erase(_ item: RemoteItem, _ table: RemoteTableName, _ state: inout State) -> RemoteItem? {
        guard softDelete else {
            state.tables[table]?[item.id] = nil
            return nil
        }
        var tombstone = item
        tombstone.isDeleted = true
        write(tombstone, table, &state)
        return state.tables[table]?[item.id]
    }

    /// Does what a request asks, as a server does it that nothing ails.
    func carryOut(_ request: Write, _ state: inout State) throws(RemoteFailure) -> RemoteAnswer {
        let (table, outgoing) = (request.item.table, request.item)
        if request.kind == .insert { return try insert(outgoing, &state) }
        guard let id = outgoing.id else {
            throw .unsendable(Unsendable(.missingID, "The item has no ID on the server.", table: table))
        }
        guard var item = state.tables[table]?[id] else { throw .notFound }
        if item.isDeleted, request.kind != .undelete { throw .gone }
        if let version = outgoing.version, version != item.version {
            throw .conflict(status: 412, item: item, detail: .init(serverDate: clock.now()))
        }
        switch request.kind {
        case .delete: return answer(erase(item, table, &state))
        case .undelete:
            item.isDeleted = false
            if undeletesWithValues { Self.merge(outgoing, into: &item, all: true) }
        default: Self.merge(outgoing, into: &item, all: false)
        }
        write(item, table, &state)
        var result = answer(state.tables[table]?[id])
        result.tookValues = request.kind != .undelete || undeletesWithValues
        return result
    }

    private func insert(_ outgoing: OutgoingItem, _ state: inout State) throws(RemoteFailure) -> RemoteAnswer {
        let id: ServerID
        if ids == .client, let chosen = outgoing.id {
            id = chosen
        } else {
            state.lastID += 1
            id = ServerID("s\(state.lastID)")
        }
        if let item = state.tables[outgoing.table]?[id] {
            throw .conflict(status: 409, item: item, detail: .init(serverDate: clock.now()))
        }
        var item = RemoteItem(id: id, createdAt: WireTimestamp(clock.now(), fractionDigits: 3))
        Self.merge(outgoing, into: &item, all: true)
        write(item, outgoing.table, &state)
        return answer(state.tables[outgoing.table]?[id])
    }

    private static func merge(_ outgoing: OutgoingItem, into item: inout RemoteItem, all: Bool) {
        for member in outgoing.members where all || outgoing.changed.contains(member.key) {
            item.set(member.value, of: member.key)
        }
    }

    private func answer(_ item: RemoteItem?) -> RemoteAnswer {
        RemoteAnswer(item: item, version: item?.version, serverDate: clock.now())
    }
}

extension RemoteItem {
    /// Sets a member's value; `nil` removes the member.
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
