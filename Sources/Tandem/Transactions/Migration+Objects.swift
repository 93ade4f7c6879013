/// Enumeration of objects, for changes that ``Migration/convert(_:of:_:)`` can't express, because they involve several
/// properties.
extension Migration {
    /// Enumerates a model's objects with their old and new values.
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
    /// The function runs after all steps, in the migration's transaction. The tables then match the models, and the
    /// other properties have their converted values and defaults. Objects are in the order of their insertion, without
    /// deleted ones. Changes of the new object are validated, folded and indexed like any write. Objects that the
    /// function inserts, updates or deletes with the transaction queue operations, like any write of the app.
    ///
    /// - Parameters:
    ///   - model: A model of the store. If the store had none of its objects, this does nothing.
    ///   - queued: Whether changes of the new object queue operations. Pass `false` if the server migrates its objects
    ///     itself. The object's operations and its sync state then do not change.
    ///   - body: Receives the old object's stored values, the new object, and the transaction. The old values have the
    ///     names of the properties in the store before all steps. They also include `localID`, `serverID`, `version`,
    ///     `createdAt` and `updatedAt`.
    public func enumerateObjects<M: Model>(
        of model: M.Type, queued: Bool,
        _ body: @escaping (_ old: SQLRow, _ new: inout M, _ tx: WriteTransaction) throws -> Void
    ) {
        enumerations.append(
            Enumeration(source: .model(M.self)) { rows, transaction in
                try rows.forEach(transaction) { old, localID, rowID in
                    try transaction.migrate(M.self, localID: localID, rowID: rowID, queued: queued) {
                        try body(old, &$0, transaction)
                    }
                }
            })
    }

    /// Enumerates the objects of a model that the app no longer has.
    ///
    /// For example, coupons become cards:
    ///
    /// ```swift
    /// configuration.migrate(to: 4) { migration in
    ///     try migration.enumerateOldObjects(of: "Coupon") { old, tx in
    ///         let shop = try old.value("shop", as: String.self)
    ///         try tx.insert(Card(shop: shop, barcode: old.value("code", as: String.self)))
    ///     }
    ///     try migration.deleteModel("Coupon")
    /// }
    /// ```
    ///
    /// The function runs at the same time as that of ``enumerateObjects(of:queued:_:)``.
    ///
    /// - Parameters:
    ///   - model: The model's name, after renames. This step or a later one may delete it.
    ///   - body: Receives the old object's stored values, by the names of its properties, and the transaction.
    /// - Throws: ``TandemError/Code/schemaMismatch`` if the store does not have this model.
    public func enumerateOldObjects(
        of model: String, _ body: @escaping (_ old: SQLRow, _ tx: WriteTransaction) throws -> Void
    ) throws {
        let table = record.models[try modelIndex(model)].table
        enumerations.append(
            Enumeration(source: .table(table)) { rows, transaction in
                try rows.forEach(transaction) { old, _, _ in try body(old, transaction) }
            })
    }

    /// Objects to enumerate.
    struct Enumeration {
        enum Source {
            case model(any Model.Type)
            case table(String)
        }

        let source: Source
        let run: (OldRows, WriteTransaction) throws -> Void
    }
}

/// The rows of a table before the migration.
struct OldRows {
    /// The current name of the table with the rows.
    var table: String
    /// The model as it was in the store.
    let original: SchemaRecord.Model
    let report: (@Sendable (MigrationProgress) throws -> Void)?

    private static let state = ["localID", "serverID", "version", "createdAt", "updatedAt"]

    /// Enumerates the rows of live objects.
    func forEach(
        _ transaction: WriteTransaction, body: (_ old: SQLRow, _ localID: LocalID, _ rowID: Int64) throws -> Void
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
            connection, report: report, model: original.name, work: .objects, table: table)
        while try select.step() {
            try progress.advance()
            let old = SQLRow(columns: names, values: names.indices.map { select.value(Int32($0 + 1)) })
            try body(old, LocalID(try select.text(1)), select.integer(0))
        }
        try progress.finish()
    }
}

extension WriteTransaction {
    /// Changes an object in a migration, if it still exists.
    fileprivate func migrate<M: Model>(
        _ model: M.Type, localID: LocalID, rowID: Int64, queued: Bool, change: (inout M) throws -> Void
    ) throws {
        let table = try store.schema.table(M.self)
        let statements = try connection.tableStatements(table)
        guard let found = try statements.find(localID, rowID: rowID) else { return }
        var object: M
        do {
            defer { found.reset() }
            object = try self.object(of: found, in: table)
        }
        guard !object.isDeleted else { return }
        let before = RowEncoder()
        object.__append(to: before)
        try change(&object)
        let after = RowEncoder()
        object.__append(to: after)
        guard !after.hasValues(of: before), let statement = try statements.find(localID, rowID: rowID) else { return }
        _ = try update(statement, with: after, in: table, from: queued ? .app : .migration)
    }
}

extension RowEncoder {
    fileprivate func hasValues(of other: RowEncoder) -> Bool {
        bytes == other.bytes
            && slots.elementsEqual(other.slots) { $0.tag == $1.tag && $0.bits == $1.bits && $0.count == $1.count }
    }
}
