import Foundation
import Tandem

// Deferred items: received from the server, but not stored when they arrived.

extension MemoryTransaction {
    func keptItem(of id: Operation.ID) throws -> KeptItem? {
        try checkUsable()
        guard let operation = state[id] else { return nil }
        let items = (state.kept[operation.object.table] ?? [:]).filter { $1.row == operation.object.row }
        let newest = items.max {
            ($0.value.updatedAt ?? .distantPast) < ($1.value.updatedAt ?? .distantPast)
        }
        return newest.map { described($0.value, $0.key, in: operation.object.table) }
    }

    func keptItemsWithoutOperation(in table: String, after serverID: ServerID?, limit: Int) throws -> [KeptItem] {
        try checkUsable()
        return (state.kept[table] ?? [:]).filter { id, kept in
            guard id > serverID ?? ServerID("") else { return false }
            guard let row = kept.row, let object = state.object(MemoryKey(table: table, row: row)) else { return true }
            return state.operation(of: object) == nil
        }.sorted { $0.key < $1.key }.prefix(limit).map { described($0.value, $0.key, in: table) }
    }

    private func described(_ kept: MemoryState.Kept, _ serverID: ServerID, in table: String) -> KeptItem {
        KeptItem(
            serverID: serverID,
            localID: kept.row.flatMap { state.object(MemoryKey(table: table, row: $0)) }?.localID,
            version: kept.version, updatedAt: kept.updatedAt, isDeleted: kept.isDeleted, source: kept.source,
            reason: kept.reason, message: kept.message)
    }

    /// Defers an item of an object, and replaces an earlier one.
    ///
    /// - Parameter object: The item's object; `nil` if it does not exist.
    func keep(
        _ item: ServerItem, of object: MemoryObject?, in table: String, _ reason: KeptItem.Reason,
        message: String? = nil
    ) {
        let kept = MemoryState.Kept(
            row: object?.row, version: item.version, updatedAt: item.updatedAt, isDeleted: item.isDeleted,
            source: item.source, reason: reason, message: message)
        guard state.kept[table]?[item.serverID] != kept else { return }
        state.kept[table, default: [:]][item.serverID] = kept
        touched.insert(table)
    }

    /// Removes the deferred items of an object, by its row or its server ID.
    func dropKept(of object: MemoryObject?, _ serverID: ServerID?, in table: String) {
        forget(in: table) { id, kept in id == serverID || object != nil && kept.row == object?.row }
    }

    /// Removes the deferred items of an object for which a newer item has arrived. A deferred item is not newer than
    /// the one that has replaced it since.
    func dropKept(knowing item: ServerItem, of object: MemoryObject) {
        forget(in: object.table) { id, kept in
            (id == item.serverID || kept.row == object.row) && (!item.wasKept || kept.source == item.source)
        }
    }

    func hasKeptTombstone(of object: MemoryObject) -> Bool {
        (state.kept[object.table] ?? [:]).values.contains { $0.row == object.row && $0.isDeleted }
    }

    /// Detaches the deferred items of a removed object. They were never visible, so they can be received as a new
    /// object. Tombstones are dropped.
    func leaveServerSide(of object: MemoryObject) {
        for (id, var kept) in state.kept[object.table] ?? [:] where kept.row == object.row {
            kept.row = nil
            state.kept[object.table]?[id] = kept.isDeleted ? nil : kept
        }
    }

    private func forget(in table: String, _ isOver: (ServerID, MemoryState.Kept) -> Bool) {
        guard let all = state.kept[table] else { return }
        let left = all.filter { !isOver($0.key, $0.value) }
        guard left.count != all.count else { return }
        state.kept[table] = left
        touched.insert(table)
    }
}
