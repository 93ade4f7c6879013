import Foundation
import Tandem

/// The data of a ``MemoryLocalStore``. A transaction changes a copy.
struct MemoryState: Sendable {
    /// A deferred item of the server, which could not be stored.
    struct Deferred: Hashable, Sendable {
        var row: Int64?
        var version: String?
        var updatedAt: Date?
        var isDeleted: Bool
        var source: [UInt8]
        var reason: DeferredItem.Reason
        var message: String?
    }

    private(set) var tables: [String: MemoryTable]
    /// The operations, ordered by ID.
    private(set) var queue: [MemoryOperation] = []
    private var operationsByObject: [MemoryKey: PendingOperation.ID] = [:]
    private var lastOperation: PendingOperation.ID = 0
    var deferred: [String: [ServerID: Deferred]] = [:]
    var tokens: [String: [String: SyncToken]] = [:]
    var settings: [SyncSetting: String] = [:]

    init(_ schema: MemorySchema) {
        tables = Dictionary(schema.models.map { ($0.table, MemoryTable($0)) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Objects

    func find(_ localID: LocalID, in table: String) -> MemoryObject? { tables[table]?[localID] }
    func find(_ serverID: ServerID, in table: String) -> MemoryObject? { tables[table]?[serverID] }
    func object(_ key: MemoryKey) -> MemoryObject? { tables[key.table]?[key.row] }

    mutating func nextRow(in table: String) -> Int64 { tables[table]?.nextRow() ?? 0 }

    /// Stores an object.
    ///
    /// - Throws: `TandemError` if a constraint is violated; nothing is stored then.
    mutating func write(_ object: MemoryObject) throws {
        try tables[object.table]?.check(object)
        tables[object.table]?.put(object)
    }

    mutating func remove(_ object: MemoryObject) { tables[object.table]?.remove(object.row) }

    // MARK: Operations

    subscript(id: PendingOperation.ID) -> MemoryOperation? {
        let index = place(of: id)
        return queue.indices.contains(index) && queue[index].id == id ? queue[index] : nil
    }

    func operation(of object: MemoryObject) -> MemoryOperation? {
        operationsByObject[object.key].flatMap { self[$0] }
    }

    /// Returns the index of the first operation that is not before an ID.
    func place(of id: PendingOperation.ID) -> Int {
        var (low, high) = (0, queue.count)
        while low < high {
            let middle = (low + high) / 2
            if queue[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    mutating func queue(
        _ kind: PendingOperation.Kind, _ object: MemoryObject, _ changes: [String: StorageValue], at: Date
    ) {
        lastOperation += 1
        queue.append(
            MemoryOperation(
                id: lastOperation, object: object.key, localID: object.localID, kind: kind, changedAt: at,
                changes: changes))
        operationsByObject[object.key] = lastOperation
    }

    mutating func replace(_ operation: MemoryOperation) {
        let index = place(of: operation.id)
        if queue.indices.contains(index), queue[index].id == operation.id { queue[index] = operation }
    }

    mutating func drop(_ operation: MemoryOperation) {
        let index = place(of: operation.id)
        if queue.indices.contains(index), queue[index].id == operation.id { queue.remove(at: index) }
        operationsByObject[operation.object] = nil
    }
}
