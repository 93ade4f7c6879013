import Foundation

extension WriteTransaction {
    /// Deletes an object.
    ///
    /// The object disappears from queries at once. If the server may have stored it, it stays as a tombstone until the
    /// server has acknowledged the delete. Until then, `undelete(_:)` can restore it. An object that the server can't
    /// have stored is removed.
    ///
    /// The delete rules of references change the objects that refer to it. Each of them gets its own operation.
    ///
    /// - Parameter object: The object, which is found by its local ID.
    /// - Returns: `false` if the object does not exist, or is already deleted.
    /// - Throws: ``TandemError/Code/deleteDenied`` if a remaining object refers to it by a reference with the rule
    ///   `deny`. The same applies to references to another object that is deleted with it.
    @discardableResult
    public func delete<M: Model>(_ object: M) throws -> Bool {
        try delete(M.self, localID: object.localID)
    }

    /// Deletes the object with a local ID. See `delete(_:)`.
    ///
    /// - Parameters:
    ///   - model: The model of the object.
    ///   - localID: The object's local ID.
    /// - Throws: The errors of `delete(_:)`.
    @discardableResult
    public func delete<M: Model>(_ model: M.Type, localID: LocalID) throws -> Bool {
        try checkUsable()
        return try delete(localID, in: try store.schema.table(M.self))
    }

    /// Deletes objects. See `delete(_:)`.
    ///
    /// - Parameter objects: The objects, which are found by their local IDs.
    /// - Returns: The number of deleted objects.
    /// - Throws: The errors of `delete(_:)`.
    @discardableResult
    public func delete<M: Model>(contentsOf objects: some Sequence<M>) throws -> Int {
        try checkUsable()
        let table = try store.schema.table(M.self)
        return try objects.reduce(0) { try $0 + (delete($1.localID, in: table) ? 1 : 0) }
    }

    /// Deletes all objects of all models with which the store was opened.
    ///
    /// Each delete queues its operation, as `delete(_:)` does: the next sync also deletes the server's objects. The
    /// rule `deny` does not apply, because no object remains. To remove only the local data, close the store and remove
    /// its files.
    ///
    /// - Returns: The number of deleted objects.
    /// - Throws: ``TandemError`` if the store can't be written.
    @discardableResult
    public func deleteAll() throws -> Int {
        try checkUsable()
        var doomed = Doomed()
        for table in store.schema.tables {
            let statement = try connection.statement(
                "SELECT \"localID\" FROM \(table.quotedTable) WHERE \"deleted\" = 0")
            defer { statement.reset() }
            while try statement.step() { doomed.insert(LocalID(try statement.text(0)), in: table) }
        }
        try savepoint { [doomed] in try delete(doomed) }
        return doomed.all.count
    }

    func delete(_ localID: LocalID, in table: TableLayout) throws -> Bool {
        guard let (state, texts) = try deletable(localID, in: table) else { return false }
        guard !table.holders.isEmpty, try isHeld(localID, in: table) else {
            try remove(state, texts: texts, in: table)
            return true
        }
        try savepoint { try deleteCascading(localID, in: table) }
        return true
    }

    /// Deletes an object, and applies the rules of its holders.
    ///
    /// The objects to delete are first collected in a list. The result therefore does not depend on an order. A chain
    /// of a hundred thousand objects does not overflow the stack.
    private func deleteCascading(_ localID: LocalID, in table: TableLayout) throws {
        var doomed = Doomed()
        doomed.insert(localID, in: table)
        while let (localID, table) = doomed.next() {
            for holder in table.holders where holder.rule == .cascade {
                for id in try holders(of: localID, holder: holder) { doomed.insert(id, in: holder.table) }
            }
        }
        try delete(doomed)
    }

    private func delete(_ doomed: Doomed) throws {
        for (localID, table) in doomed.all {
            guard let (state, texts) = try deletable(localID, in: table) else { continue }
            try remove(state, texts: texts, in: table)
        }
        // An object that is deleted too neither loses its reference nor denies the delete.
        for (localID, table) in doomed.all { try releaseHolders(of: localID, in: table, doomed: doomed) }
    }

    /// The objects of a cascading delete.
    private struct Doomed {
        private struct Key: Hashable {
            let table: ObjectIdentifier
            let localID: LocalID
        }
        private(set) var all: [(LocalID, TableLayout)] = []
        private var known: Set<Key> = []
        private var position = 0

        mutating func insert(_ localID: LocalID, in table: TableLayout) {
            let isNew = known.insert(Key(table: ObjectIdentifier(table), localID: localID)).inserted
            if isNew { all.append((localID, table)) }
        }

        func contains(_ localID: LocalID, in table: TableLayout) -> Bool {
            known.contains(Key(table: ObjectIdentifier(table), localID: localID))
        }

        mutating func next() -> (LocalID, TableLayout)? {
            guard position < all.count else { return nil }
            position += 1
            return all[position - 1]
        }
    }

    /// Returns the state of an object that can be deleted, and its indexed texts, or `nil` if there is none.
    private func deletable(
        _ localID: LocalID, in table: TableLayout
    ) throws -> (state: ObjectState, texts: [String?])? {
        guard let statement = try connection.tableStatements(table).find(localID) else { return nil }
        let state: ObjectState
        let texts: [String?]
        do {
            defer { statement.reset() }
            state = try self.state(of: statement, in: table)
            texts = try connection.tableStatements(table).searchTexts(statement)
        }
        return state.isDeleted ? nil : (state, texts)
    }

    /// Hides a row, or removes it if the server can't have stored its object.
    private func remove(_ state: ObjectState, texts: [String?], in table: TableLayout) throws {
        knownTargets.removeAll()
        let keeps = try poisoningOnError { try delegate.willDelete(state, in: table, by: self) }
        try poisoningOnError {
            if keeps {
                try connection.execute(
                    "UPDATE \(table.quotedTable) SET \"deleted\" = 1, \"synced\" = 0 WHERE \"__rid\" = ?",
                    binding: [.integer(state.rowID)])
            } else {
                try erase(state, texts: texts, in: table)
            }
        }
    }

    /// Removes a row with its links, unresolved references and server data.
    func erase(_ state: ObjectState, texts: [String?], in table: TableLayout) throws {
        if !table.searched.isEmpty { pendingSearch.recordChange(table, row: state.rowID, indexed: texts) }
        for link in table.links where link.isToMany { try removeLinks(link, of: state.rowID, in: table) }
        try forgetUnresolved(of: state.rowID, in: table, property: nil)
        try delegate.willErase(state.rowID, in: table, by: self)
        try connection.execute("DELETE FROM \(table.quotedTable) WHERE \"__rid\" = ?", binding: [.integer(state.rowID)])
        if pendingSearch.count > pendingSearchLimit { try flushSearch() }
    }

    // MARK: Holders

    /// Returns a query of the live objects that refer to an object.
    func holderQuery(_ holder: TableLayout.Holder, columns: String) -> String {
        let property = holder.table.definition.properties[holder.property]
        if holder.isToMany {
            let links = holder.table.definition.linkTable(property).quotedSQL
            return """
                SELECT \(columns) FROM \(holder.table.quotedTable) WHERE "deleted" = 0 AND "__rid" IN \
                (SELECT "object" FROM \(links) WHERE "target" = ?)
                """
        }
        return """
            SELECT \(columns) FROM \(holder.table.quotedTable) \
            WHERE \(property.column.quotedSQL) = ? AND "deleted" = 0
            """
    }

    /// Returns whether live objects refer to an object.
    func isHeld(_ localID: LocalID, in table: TableLayout) throws -> Bool {
        for holder in table.holders {
            let query = "SELECT EXISTS (\(holderQuery(holder, columns: "1")))"
            if try connection.value(query, binding: [.text(localID.rawValue)]) == .integer(1) { return true }
        }
        return false
    }

    private func holders(of localID: LocalID, holder: TableLayout.Holder) throws -> [LocalID] {
        try connection.rows(holderQuery(holder, columns: "\"localID\""), binding: [.text(localID.rawValue)]) {
            LocalID(try $0.text(0))
        }
    }

    /// Removes references to deleted objects from the remaining objects.
    private func releaseHolders(of localID: LocalID, in table: TableLayout, doomed: Doomed) throws {
        for holder in table.holders where holder.rule == .deny {
            guard let id = try holders(of: localID, holder: holder).first else { continue }
            let property = holder.table.definition.properties[holder.property]
            throw TandemError(
                .deleteDenied,
                message:
                    "The \(table.definition.name) \(localID) can't be deleted: the \(holder.table.definition.name) "
                    + "\(id) refers to it.",
                advice: "Delete that object first, or change its reference.", store: store.path,
                model: holder.table.definition.name, property: property.name)
        }
        for holder in table.holders where holder.rule == .nullify {
            for id in try holders(of: localID, holder: holder) {
                try release(doomed, in: table, from: id, holder: holder)
            }
        }
    }

    /// Removes references to deleted objects from a holder. The unresolved entries of a list keep their positions among
    /// the remaining entries.
    private func release(
        _ doomed: Doomed, in table: TableLayout, from id: LocalID, holder: TableLayout.Holder
    ) throws {
        guard let statement = try connection.tableStatements(holder.table).find(id) else { return }
        let row = RowEncoder()
        var unresolved: [UnresolvedReference]?
        for property in holder.table.definition.properties.indices {
            guard property == holder.property, holder.isToMany else {
                row.appendNull()
                continue
            }
            let rowID = try state(of: statement, in: holder.table).rowID
            let waiting = try waitingEntries(of: rowID, property: property, in: holder.table)
            let ids = try LinkList.parse(try statement.text(holder.table.column(property)))
            var entries = ids.map { (id: $0, waits: false) }
            for entry in waiting { entries.insert((entry.id, true), at: min(entry.position, entries.count)) }
            entries.removeAll { !$0.waits && doomed.contains($0.id, in: table) }
            row.append(text: LinkList.text(entries.filter { !$0.waits }.map(\.id)))
            let link = TableLayout.Link(
                property: property, isToMany: true, target: ModelTarget(table.definition))
            unresolved = entries.enumerated().filter(\.element.waits).map {
                UnresolvedReference(link: link, target: table, position: $0.offset, id: $0.element.id)
            }
        }
        _ = try update(
            statement, with: row, in: holder.table, only: [holder.property], unresolved: unresolved,
            keepsWaiting: unresolved == nil)
    }
}
