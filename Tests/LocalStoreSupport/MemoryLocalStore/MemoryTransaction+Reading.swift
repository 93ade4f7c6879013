import Foundation
import Tandem
import TandemSync

extension MemoryTransaction {
    func operations(after id: PendingOperation.ID?, limit: Int) throws -> [PendingOperation] {
        try checkUsable()
        let start = id.map { state.place(of: $0 + 1) } ?? 0
        return try state.queue.dropFirst(start).prefix(limit).map { $0.described(try model($0.object.table)) }
    }

    func operation(withID id: PendingOperation.ID) throws -> PendingOperation? {
        try checkUsable()
        return try state[id].map { $0.described(try model($0.object.table)) }
    }

    func operation(on localID: LocalID, in table: String) throws -> PendingOperation? {
        try checkUsable()
        guard let object = state.find(localID, in: table), let operation = state.operation(of: object) else {
            return nil
        }
        return operation.described(try model(table))
    }

    func countOfOperations(in table: String) throws -> Int {
        try checkUsable()
        return state.queue.count { $0.object.table == table }
    }

    func countOfOperations() throws -> Int {
        try checkUsable()
        return state.queue.count
    }

    func countOfOperations(in wanted: PendingOperation.State) throws -> Int {
        try checkUsable()
        return state.queue.count { $0.state == wanted }
    }

    func countOfOperationsToRetry() throws -> Int {
        try checkUsable()
        return state.queue.count { ($0.state == .pending || $0.state == .attempted) && $0.error != nil }
    }

    func operationMarks() throws -> OperationMarks {
        OperationMarks(of: try operations(after: nil, limit: .max))
    }

    func object(_ localID: LocalID, in table: String) throws -> LocalObject? {
        try checkUsable()
        guard let object = state.find(localID, in: table) else { return nil }
        let model = try model(table)
        return LocalObject(
            localID: localID, serverID: object.serverID, version: object.version, createdAt: object.createdAt,
            updatedAt: object.updatedAt, isDeleted: object.isDeleted, values: named(object.whole(model), model),
            extras: object.extras)
    }

    func named(_ values: [StorageValue], _ model: MemoryModel) -> [String: StorageValue] {
        Dictionary(zip(model.properties.map(\.name), values), uniquingKeysWith: { first, _ in first })
    }

    func localIDs(in table: String) throws -> [LocalID] {
        try checkUsable()
        return state.tables[table]?.localIDs ?? []
    }

    func serverID(of localID: LocalID, in table: String) throws -> ServerID? {
        try checkUsable()
        return state.find(localID, in: table)?.serverID
    }

    func hasObject(_ localID: LocalID, in table: String) throws -> Bool {
        try checkUsable()
        return state.find(localID, in: table) != nil
    }

    func blocker(of localID: LocalID, in table: String) throws -> (localID: LocalID, model: String)? {
        try checkUsable()
        var seen: Set<MemoryKey> = []
        var next = [state.find(localID, in: table)].compactMap { $0 }
        while let object = next.popLast() {
            guard seen.insert(object.key).inserted else { continue }
            let model = try model(of: object)
            for link in model.links where !model.properties[link.place].isLocalOnly {
                for entry in object.links[link.place] ?? [] where entry.isHere {
                    guard let target = state.find(entry.id, in: link.target), target.serverID == nil,
                        !target.isDeleted, let operation = state.operation(of: target)
                    else { continue }
                    if operation.state == .failed || operation.state == .held {
                        return (target.localID, try self.model(link.target).definition.name)
                    }
                    next.append(target)
                }
            }
        }
        return nil
    }

    func mayHaveDeleted(_ id: PendingOperation.ID) throws -> Bool {
        try checkUsable()
        return state[id]?.attemptedKinds.contains(.delete) ?? false
    }

    // MARK: Rows

    func row(of serverID: ServerID, in table: String) throws -> Int64? {
        try checkUsable()
        return state.find(serverID, in: table)?.row
    }

    func forEachSyncedRow(
        in table: String, where filter: LocalFilter?, body: (Int64, ServerID) throws -> Void
    ) throws {
        try checkUsable()
        let model = try model(table)
        for object in state.tables[table]?.objects.values ?? [:].values {
            guard let serverID = object.serverID, !object.isDeleted, state.operation(of: object) == nil else {
                continue
            }
            if try passes(object, filter, model) { try body(object.row, serverID) }
        }
    }

    func countOfServerItems(in table: String) throws -> Int {
        try checkUsable()
        _ = try model(table)
        let ids = (state.tables[table]?.objects.values ?? [:].values).compactMap(\.serverID)
        let deferred = (state.deferred[table] ?? [:]).filter { !$0.value.isDeleted }.keys
        return Set(ids).union(deferred).count
    }

    /// Returns whether a filter matches an object, with the server's semantics.
    func passes(_ object: MemoryObject, _ filter: LocalFilter?, _ model: MemoryModel) throws -> Bool {
        guard let filter, var asked = try self.object(object.localID, in: object.table) else { return true }
        for link in model.links {
            let name = model.properties[link.place].name
            asked.values[name] = asked.values[name].map { wire($0, at: link.place, model) }
        }
        return filter.remote.holds(for: asked, of: model.definition)
    }

    // MARK: State of sync

    func syncToken(of queryID: String, in table: String) throws -> SyncToken? {
        try checkUsable()
        return state.tokens[table]?[queryID]
    }

    func lastSuccesses() throws -> [String: Date] {
        try checkUsable()
        return state.tokens.compactMapValues { $0.values.compactMap(\.lastSuccess).max() }
    }

    func syncSetting(_ key: SyncSetting) throws -> String? {
        try checkUsable()
        return state.settings[key]
    }

    /// Returns an empty list: a store in memory has only its own models.
    func exchangedTablesWithoutModel() throws -> [String] {
        try checkUsable()
        return []
    }
}
