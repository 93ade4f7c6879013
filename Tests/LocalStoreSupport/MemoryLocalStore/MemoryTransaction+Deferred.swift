import Foundation
import Tandem

// Deferred items: received from the server, but not stored when they arrived.

extension MemoryTransaction {
    func deferredItem(of id: PendingOperation.ID) throws -> DeferredItem? {
        try checkUsable()
        guard let operation = state[id] else { return nil }
        let items = (state.deferred[operation.object.table] ?? [:]).filter { $1.row == operation.object.row }
        let newest = items.max {
            ($0.value.updatedAt ?? .distantPast) < ($1.value.updatedAt ?? .distantPast)
        }
        return newest.map { described($0.value, $0.key, in: operation.object.table) }
    }

    func deferredItemsWithoutOperation(in table: String, after serverID: ServerID?, limit: Int) throws -> [DeferredItem]
    {
        try checkUsable()
        return (state.deferred[table] ?? [:]).filter { id, deferred in
            guard id > serverID ?? ServerID("") else { return false }
            guard let row = deferred.row, let object = state.object(MemoryKey(table: table, row: row)) else {
                return true
            }
            return state.operation(of: object) == nil
        }.sorted { $0.key < $1.key }.prefix(limit).map { described($0.value, $0.key, in: table) }
    }

    private func described(_ deferred: MemoryState.Deferred, _ serverID: ServerID, in table: String) -> DeferredItem {
        DeferredItem(
            serverID: serverID,
            localID: deferred.row.flatMap { state.object(MemoryKey(table: table, row: $0)) }?.localID,
            version: deferred.version, updatedAt: deferred.updatedAt, isDeleted: deferred.isDeleted,
            source: deferred.source,
            reason: deferred.reason, message: deferred.message)
    }

    /// Defers an item of an object, and replaces an earlier one.
    ///
    /// - Parameter object: The item's object; `nil` if it does not exist.
    func deferItem(
        _ item: ServerItem, of object: MemoryObject?, in table: String, _ reason: DeferredItem.Reason,
        message: String? = nil
    ) {
        let deferred = MemoryState.Deferred(
            row: object?.row, version: item.version, updatedAt: item.updatedAt, isDeleted: item.isDeleted,
            source: item.source, reason: reason, message: message)
        guard state.deferred[table]?[item.serverID] != deferred else { return }
        state.deferred[table, default: [:]][item.serverID] = deferred
        touched.insert(table)
    }

    /// Removes the deferred items of an object, by its row or its server ID.
    func dropDeferred(of object: MemoryObject?, _ serverID: ServerID?, in table: String) {
        forget(in: table) { id, deferred in id == serverID || object != nil && deferred.row == object?.row }
    }

    /// Removes the deferred items of an object for which a newer item has arrived. A deferred item is not newer than
    /// the one that has replaced it since.
    func dropDeferred(knowing item: ServerItem, of object: MemoryObject) {
        forget(in: object.table) { id, deferred in
            (id == item.serverID || deferred.row == object.row) && (!item.wasDeferred || deferred.source == item.source)
        }
    }

    func hasDeferredTombstone(of object: MemoryObject) -> Bool {
        (state.deferred[object.table] ?? [:]).values.contains { $0.row == object.row && $0.isDeleted }
    }

    /// Detaches the deferred items of a removed object. They were never visible, so they can be received as a new
    /// object. Tombstones are dropped.
    func leaveServerSide(of object: MemoryObject) {
        for (id, var deferred) in state.deferred[object.table] ?? [:] where deferred.row == object.row {
            deferred.row = nil
            state.deferred[object.table]?[id] = deferred.isDeleted ? nil : deferred
        }
    }

    private func forget(in table: String, _ isOver: (ServerID, MemoryState.Deferred) -> Bool) {
        guard let all = state.deferred[table] else { return }
        let left = all.filter { !isOver($0.key, $0.value) }
        guard left.count != all.count else { return }
        state.deferred[table] = left
        touched.insert(table)
    }
}
