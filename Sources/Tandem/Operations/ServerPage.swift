/// The items of a page, which are applied to one table in their order.
///
/// New objects wait in a batch, and one statement inserts many of them. Before any other item is applied, the waiting
/// objects are inserted. If one of them violates a constraint, it is applied by itself to find the reason.
struct ServerPage {
    private let sync: SyncTransaction
    private let table: TableLayout
    private let items: [(item: ServerItem, identity: IdentityRule)]
    private var receipts: [ServerReceipt?]
    private let batch: RowBatch
    /// The indices of the items whose objects wait in the batch.
    private var waiting: [Int] = []
    /// The IDs in the page that objects already have as server IDs or as local IDs.
    ///
    /// IDs that objects may have got from an earlier item are included.
    private var used: Set<ServerID> = []
    /// The properties that refer to other objects of the table.
    private let ownReferences: [PropertyDefinition]

    init(
        _ items: [(item: ServerItem, identity: IdentityRule)], of table: TableLayout, in sync: SyncTransaction
    ) {
        self.sync = sync
        self.table = table
        self.items = items
        receipts = Array(repeating: nil, count: items.count)
        batch = RowBatch(table, limit: sync.transaction.insertLimit)
        ownReferences = zip(table.links, table.linkTargets).filter { $0.1 === table }
            .map { table.definition.properties[$0.0.property] }
    }

    /// Applies the items.
    ///
    /// - Returns: Their outcomes, in their order.
    mutating func apply() throws -> [ServerReceipt] {
        // The files of a row are registered before it is inserted, and its triggers note their uses.
        let isBatched = items.count > 1 && table.attachments.isEmpty
        if isBatched { used = try usedIDs() }
        for index in items.indices {
            if isBatched, try addNew(index) { continue }
            try insertWaiting()
            receipts[index] = try applyAlone(index)
            used.insert(items[index].item.serverID)
        }
        try insertWaiting()
        return receipts.compactMap(\.self)
    }

    /// Applies an item by itself.
    private func applyAlone(_ index: Int) throws -> ServerReceipt {
        var (item, identity) = items[index]
        do {
            return try sync.apply(item, identity: identity, in: table)
        } catch let error as TandemError where error.code == .invalidValue {
            try sync.checkUsable()
            item.unreadable = error
            return try sync.apply(item, identity: identity, in: table)
        }
    }

    // MARK: New objects

    /// Returns the IDs of the page that objects have as server IDs or as local IDs.
    private func usedIDs() throws -> Set<ServerID> {
        var ids = items.map(\.item.serverID)
        for case (_, .server(let localID?)) in items { ids.append(ServerID(localID.rawValue)) }
        let statement = try sync.connection.tableStatements(table).usedIDs()
        defer { statement.clearBindings() }
        var used: Set<ServerID> = []
        for start in stride(from: 0, to: ids.count, by: TableStatements.usedIDCount) {
            for offset in 0..<TableStatements.usedIDCount {
                let id = start + offset < ids.count ? ids[start + offset].rawValue : nil
                statement.bind(Int32(offset + 1), to: id)
            }
            defer { statement.reset() }
            while try statement.step() { used.insert(ServerID(try statement.text(0))) }
        }
        return used
    }

    /// Adds an item's object to the batch if it is new.
    ///
    /// - Returns: `false` if the item must be applied by itself.
    private mutating func addNew(_ index: Int) throws -> Bool {
        let (item, identity) = items[index]
        guard item.unreadable == nil, !used.contains(item.serverID) else { return false }
        if case .server(let localID?) = identity, used.contains(ServerID(localID.rawValue)) { return false }
        if item.isDeleted {
            receipts[index] = try sync.receiveUnknownTombstone(item, in: table)
            return true
        }
        // The object may refer to a waiting one.
        if refersToItsTable(item) { try insertWaiting() }
        let (row, transaction) = (sync.connection.row, sync.transaction)
        let unresolved: [UnresolvedReference]
        do {
            try sync.encodeNew(item, to: row, of: table)
            unresolved = try transaction.prepareInsert(row, into: table, from: .server)
        } catch let error as TandemError where error.code == .invalidValue {
            return false
        }
        // A row that fills a batch alone gains nothing, and a value may exceed SQLite's limit.
        guard row.bytes.count < RowBatch.byteLimit else { return false }
        batch.append(
            row, twins: sync.connection.twins, state: sync.stateOfNew(item), unresolved: unresolved)
        waiting.append(index)
        used.insert(item.serverID)
        if batch.isFull { try insertWaiting() }
        return true
    }

    private func refersToItsTable(_ item: ServerItem) -> Bool {
        ownReferences.contains { property in
            item.values[property.name].map { $0 != .null && $0 != .text("[]") } ?? false
        }
    }

    /// Inserts the objects that wait in the batch.
    private mutating func insertWaiting() throws {
        var next = 0
        while next < waiting.count {
            for state in try sync.transaction.insert(batch, from: next, source: .server) {
                let index = waiting[next]
                receipts[index] = try sync.completeNew(items[index].item, as: state, in: table)
                next += 1
            }
            guard next < waiting.count else { break }
            receipts[waiting[next]] = try applyAlone(waiting[next])
            next += 1
        }
        waiting.removeAll(keepingCapacity: true)
        batch.removeAll()
    }
}
