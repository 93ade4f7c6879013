import Foundation

/// Fits a store's tables to the models when it is opened.
struct SchemaKeeper {
    let connection: Connection
    let schema: Schema
    let configuration: Store.Configuration

    /// The version of the store's own format. A store of a higher one is refused.
    static let formatVersion: Int64 = 3

    /// What a store's settings say of its schema.
    struct Stored {
        var format: Int64
        var record: SchemaRecord
        var schemaVersion: Int
        var foldingVersion: Int
        /// Made anew with each migration.
        var stamp: String
    }

    private var wanted: SchemaRecord {
        SchemaRecord(models: schema.tables.map { SchemaRecord.Model($0.definition) })
    }

    /// - Returns: What is left of a migration, whose transaction is then open: see ``Store/finish(_:)``.
    /// - Throws: ``TandemError``; the store is then as it was.
    func fit() throws -> PendingMigration? {
        if try adopt() { return nil }
        guard !configuration.isReadOnly else { throw readOnlyMismatch(try read()) }
        try connection.begin()
        do {
            // Another process may have done it while this one waited.
            if try !adopt(), let pending = try migrate(try read()) {
                connection.finalizeStatements()
                return pending
            }
            try connection.statement(.commit).run()
            connection.dataVersion = try connection.value("PRAGMA data_version")
        } catch {
            connection.rollBack()
            if let error = error as? InvalidEncoding { throw TandemError(damage: error, store: connection.path) }
            guard let refusal = error as? TandemError, refusal.code == .sql, refusal.message.contains("already exists")
            else { throw error }
            // What the store says of its tables has been lost, and they are there.
            throw TandemError(
                .corrupt, "The store is damaged: it has tables of which it knows nothing.",
                advice: "Restore a backup.", store: connection.path, underlying: refusal)
        }
        // Statements that were prepared for tables as they were are not used again.
        connection.finalizeStatements()
        return nil
    }

    /// Goes on with the store's tables as they are, if they are the models' already.
    private func adopt() throws -> Bool {
        // In one state: another process may be migrating.
        try connection.consistently(true) {
            guard let stored = try read(), try fits(stored) else { return false }
            connection.schemaStamp = stored.stamp
            connection.dataVersion = try connection.value("PRAGMA data_version")
            return true
        }
    }

    /// Whether the store's tables are the models' already.
    private func fits(_ stored: Stored) throws -> Bool {
        if stored.schemaVersion > configuration.schemaVersion {
            throw TandemError(
                .newerSchema,
                "The store has schema version \(stored.schemaVersion), newer than this app's "
                    + "\(configuration.schemaVersion).",
                advice: "Open it with the newer app; it was not touched.", store: connection.path)
        }
        let wanted = wanted.models
        guard stored.format == Self.formatVersion, stored.schemaVersion == configuration.schemaVersion,
            stored.foldingVersion == Folding.version
        else { return false }
        if configuration.isReadOnly {
            return wanted.allSatisfy { model in
                var found = stored.record.model(named: model.name)
                found?.isAbsent = nil
                found?.stateIndexes = model.stateIndexes
                return found == model
            }
        }
        let names = Set(wanted.map(\.name))
        return wanted.allSatisfy { stored.record.model(named: $0.name) == $0 }
            && stored.record.models.allSatisfy { names.contains($0.name) || $0.isAbsent == true }
    }

    private func readOnlyMismatch(_ stored: Stored?) -> TandemError {
        let format = stored?.format ?? Self.formatVersion
        let message =
            format < Self.formatVersion
            ? "The store's format, \(format), is older than this version of Tandem's, and it was opened read-only."
            : "The store's schema is not that of the models, and it was opened read-only."
        return TandemError(
            .schemaMismatch, message, advice: "Open it for writing once, so that it is migrated.",
            store: connection.path)
    }

    // MARK: Settings

    private func read() throws -> Stored? {
        func setting(_ key: String) throws -> StorageValue? {
            try connection.value("SELECT \"value\" FROM \"__settings\" WHERE \"key\" = ?", [.text(key)])
        }
        func damaged(_ key: String) -> TandemError {
            TandemError(
                .corrupt, "The store's setting \"\(key)\" is missing or damaged.", advice: "Restore a backup.",
                store: connection.path)
        }
        guard try connection.value("SELECT 1 FROM sqlite_master WHERE name = '__settings'") != nil else {
            // A store gets its ID and its settings at once.
            if try connection.value("PRAGMA application_id") == .integer(StoreOpener.applicationID) {
                throw damaged("formatVersion")
            }
            return nil
        }
        guard case .integer(let format)? = try setting("formatVersion") else { throw damaged("formatVersion") }
        guard format <= Self.formatVersion else {
            throw TandemError(
                .newerSchema, "The store's format, \(format), is newer than this version of Tandem's.",
                advice: "Open it with the newer version; it was not touched.", store: connection.path)
        }
        guard case .integer(let version)? = try setting("schemaVersion") else { throw damaged("schemaVersion") }
        guard case .integer(let folding)? = try setting("foldingVersion") else { throw damaged("foldingVersion") }
        guard case .text(let stamp)? = try setting("schemaStamp") else { throw damaged("schemaStamp") }
        guard case .text(let json)? = try setting("schema"), let record = try? SchemaRecord(json: json) else {
            throw damaged("schema")
        }
        return Stored(
            format: format, record: record, schemaVersion: Int(version), foldingVersion: Int(folding), stamp: stamp)
    }

    private func write(_ record: SchemaRecord, stamp: String) throws {
        let settings: [(String, StorageValue)] = [
            ("formatVersion", .integer(Self.formatVersion)),
            ("schemaVersion", .integer(Int64(configuration.schemaVersion))),
            ("foldingVersion", .integer(Int64(Folding.version))),
            ("schema", .text(try record.json)),
            ("schemaStamp", .text(stamp)),
        ]
        for (key, value) in settings {
            try connection.execute(
                """
                INSERT INTO "__settings" ("key", "value") VALUES (?, ?) \
                ON CONFLICT ("key") DO UPDATE SET "value" = excluded."value"
                """, [.text(key), value])
        }
        connection.schemaStamp = stamp
    }

    // MARK: Migrating

    private func migrate(_ stored: Stored?) throws -> PendingMigration? {
        if stored == nil {
            try connection.execute("PRAGMA application_id = \(StoreOpener.applicationID)")
            try connection.execute(MetaTables.sql)
        }
        if let stored { try MetaTables.lift(connection, from: stored.format) }
        connection.migrationTime = configuration.now()
        let migration = Migration(
            connection: connection, record: stored?.record ?? SchemaRecord(models: []),
            oldVersion: stored?.schemaVersion ?? configuration.schemaVersion,
            newVersion: configuration.schemaVersion)
        if let stored {
            for (version, step) in configuration.migrationSteps.sorted(by: { $0.key < $1.key })
            where version > stored.schemaVersion && version <= configuration.schemaVersion {
                do {
                    try step(migration)
                } catch var error as TandemError {
                    error.store = error.store ?? connection.path
                    throw error
                }
            }
        }
        let migrator = Migrator(
            connection: connection, schema: schema, migration: migration,
            oldFolding: stored.flatMap { $0.foldingVersion == Folding.version ? nil : $0.foldingVersion },
            configuration: configuration)
        try migrator.run()
        let record = migrator.finalRecord
        // Who has the store open with tables that stay as they are need not open it again. Who has it open in an older
        // format would not keep what this one adds: it is told by the stamp.
        let isSame =
            stored.map { stored in
                stored.format == Self.formatVersion && stored.schemaVersion == configuration.schemaVersion
                    && record.hasTables(of: stored.record)
            } ?? false
        try write(record, stamp: isSame ? stored?.stamp ?? "" : UUIDv7.shared.next())
        return migrator.pending
    }

    // MARK: While the store is open

    /// Makes sure that no other process has changed the schema: its rows would not be ours any more.
    ///
    /// - Returns: Whether another connection has committed since this was asked last.
    static func checkUnchanged(_ connection: Connection, store: Store) throws -> Bool {
        // Changes if another connection has committed, and costs a microsecond.
        let statement = try connection.statement(.dataVersion)
        defer { statement.reset() }
        let version = try statement.step() ? statement.value(0) : nil
        if version == connection.dataVersion, connection.schemaStamp != nil { return false }
        let stamp = try connection.value(.schemaStamp)
        guard case .text(let text)? = stamp, text == connection.schemaStamp ?? connection.openedStamp else {
            throw foreignChange(store)
        }
        let hasMoved = version != connection.dataVersion
        connection.schemaStamp = text
        connection.dataVersion = version
        return hasMoved
    }

    /// Makes sure that the state which a reader sees has the schema that the store was opened with.
    static func checkStamp(_ reader: Connection, store: Store) throws {
        guard try reader.value(.schemaStamp) == store.openedStamp.map({ .text($0) }) else { throw foreignChange(store) }
    }

    private static func foreignChange(_ store: Store) -> TandemError {
        TandemError(
            .foreignSchemaChange, "Another process has changed the store's schema.", advice: "Open the store again.",
            store: store.path)
    }
}
