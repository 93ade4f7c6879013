/// Going through objects: what a change of one property by itself, as ``Migration/convert(_:of:_:)``, can't say.
extension Migration {
    /// Goes through a model's objects, with what each one was and what it is now.
    ///
    /// For example:
    ///
    /// ```swift
    /// configuration.migrate(to: 3) { migration in
    ///     try migration.enumerateObjects(of: Card.self, queued: true) { old, card, tx in
    ///         let owner = try old.value("ownerName", as: String?.self)
    ///         guard let owner else { return }
    ///         let known = try tx.objects(Person.self).where { $0.name == owner }.first()
    ///         card.owner = try (known ?? tx.insert(Person(name: owner))).reference
    ///     }
    /// }
    /// ```
    ///
    /// The function runs after all steps, when the tables fit the models and the other properties have their converted
    /// values and defaults, in the migration's transaction. Objects come in the order of their insertion, without those
    /// that are deleted. What the function changes in the new object is checked, folded and indexed like any write.
    /// Objects that it inserts, updates or deletes by the transaction queue operations like any write of the app.
    ///
    /// - Parameters:
    ///   - model: A model of the store. If the store had none of its objects, nothing is done.
    ///   - queued: Whether changes of the new object queue operations, to be sent. `false` if the server's objects are
    ///     migrated on the server: then the object's queue and its sync state stay as they are.
    ///   - body: Is given the old object's stored values, the new object, and the transaction. The old values go by the
    ///     names that the properties had in the store, before all steps, and by `localID`, `serverID`, `version`,
    ///     `createdAt` and `updatedAt`.
    public func enumerateObjects<M: Model>(
        of model: M.Type, queued: Bool,
        _ body: @escaping (_ old: SQLRow, _ new: inout M, _ tx: WriteTransaction) throws -> Void
    ) {
        enumerations.append(
            Enumeration(source: .model(M.self)) { rows, transaction in
                try rows.forEach(transaction) { old, localID, rowID in
                    try transaction.migrate(M.self, localID, rowID: rowID, queued: queued) {
                        try body(old, &$0, transaction)
                    }
                }
            })
    }

    /// Goes through the objects of a model that the app no longer has.
    ///
    /// For example, coupons become cards:
    ///
    /// ```swift
    /// configuration.migrate(to: 4) { migration in
    ///     try migration.enumerateOldObjects(of: "Coupon") { old, tx in
    ///         try tx.insert(Card(shop: old.value("shop", as: String.self), barcode: old.value("code", as: String.self)))
    ///     }
    ///     try migration.deleteModel("Coupon")
    /// }
    /// ```
    ///
    /// The function runs when ``enumerateObjects(of:queued:_:)``'s does.
    ///
    /// - Parameters:
    ///   - model: The model's name, after renames. It may be deleted by this step or a later one.
    ///   - body: Is given the old object's stored values, by the names of its properties, and the transaction.
    /// - Throws: ``TandemError/Code/schemaMismatch`` if the store has no such model.
    public func enumerateOldObjects(
        of model: String, _ body: @escaping (_ old: SQLRow, _ tx: WriteTransaction) throws -> Void
    ) throws {
        let table = record.models[try modelIndex(model)].table
        enumerations.append(
            Enumeration(source: .table(table)) { rows, transaction in
                try rows.forEach(transaction) { old, _, _ in try body(old, transaction) }
            })
    }

    /// Objects to be gone through.
    struct Enumeration {
        enum Source {
            case model(any Model.Type)
            case table(String)
        }

        let source: Source
        let run: (OldRows, WriteTransaction) throws -> Void
    }
}

/// The rows of a table as it was before the migration.
struct OldRows {
    /// The table that has the rows now, `nil` if there is none.
    var table: String
    /// The model as it was in the store.
    let original: SchemaRecord.Model
    let report: (@Sendable (MigrationProgress) throws -> Void)?

    private static let state = ["localID", "serverID", "version", "createdAt", "updatedAt"]

    /// Goes through the rows of live objects.
    func forEach(
        _ transaction: WriteTransaction, _ body: (_ old: SQLRow, _ localID: LocalID, _ rowID: Int64) throws -> Void
    ) throws {
        let connection = transaction.connection
        let names = Self.state + original.properties.map(\.name)
        let columns = (Self.state + original.properties.map(\.column)).map(\.quotedSQL)
        let select = try connection.uncachedStatement(
            """
            SELECT "__rid", \(columns.joined(separator: ", ")) FROM \(table.quotedSQL) WHERE "deleted" = 0 \
            ORDER BY "__rid"
            """)
        var progress = try MigrationProgress.Counter(
            connection, report, model: original.name, .objects, table: table)
        while try select.step() {
            try progress.advance()
            let old = SQLRow(columns: names, values: names.indices.map { select.value(Int32($0 + 1)) })
            try body(old, LocalID(try select.text(1)), select.integer(0))
        }
        try progress.finish()
    }
}

extension WriteTransaction {
    /// Changes an object in a migration, if it is still there.
    fileprivate func migrate<M: Model>(
        _ model: M.Type, _ localID: LocalID, rowID: Int64, queued: Bool, _ change: (inout M) throws -> Void
    ) throws {
        let table = try store.schema.table(M.self)
        let statements = try connection.tableStatements(table)
        guard let found = try statements.find(localID, rowID: rowID) else { return }
        var object: M
        do {
            defer { found.reset() }
            object = try M(__row: found.row())
        } catch let error as InvalidStoredValue {
            throw store.invalid(error, in: table)
        }
        guard !object.isDeleted else { return }
        let before = RowBuffer()
        object.__append(to: before)
        try change(&object)
        let after = RowBuffer()
        object.__append(to: after)
        guard !after.hasValues(of: before), let statement = try statements.find(localID, rowID: rowID) else { return }
        _ = try update(statement, with: after, in: table, queues: queued)
    }
}

extension RowBuffer {
    fileprivate func hasValues(of other: RowBuffer) -> Bool {
        bytes == other.bytes
            && slots.elementsEqual(other.slots) { $0.tag == $1.tag && $0.bits == $1.bits && $0.count == $1.count }
    }
}
