import Foundation

/// Adapts a store's tables to the models when it is opened.
struct SchemaUpdater {
    let connection: Connection
    let schema: Schema
    let configuration: Store.Configuration

    /// The version of the store's own format. A store with a higher version is refused.
    static let formatVersion: Int64 = 4

    /// The schema in a store's settings.
    struct Stored {
        var format: Int64
        var record: SchemaRecord
        var schemaVersion: Int
        var keyRules: KeyRules
        /// A random ID of the schema, which changes with each migration.
        var stamp: String
    }

    private var keyRules: KeyRules { KeyRules(configuration.collation) }

    private var wanted: SchemaRecord {
        SchemaRecord(models: schema.tables.map { SchemaRecord.Model($0.definition) })
    }

    /// - Returns: The rest of a migration, whose transaction is then open: see ``Store/finish(_:)``.
    /// - Throws: ``TandemError``. The store is then unchanged.
    func fit() throws -> PendingMigration? {
        if try adopt() { return nil }
        guard !configuration.isReadOnly else { throw readOnlyMismatch(try read()) }
        try connection.begin()
        do {
            // Another process may have migrated the store in the meantime.
            if try !adopt(), let pending = try migrate(try read()) {
                connection.finalizeStatements()
                return pending
            }
            try connection.commit()
            connection.dataVersion = try connection.value("PRAGMA data_version")
        } catch {
            connection.rollBack()
            if let error = error as? InvalidEncoding { throw TandemError(damage: error, store: connection.path) }
            guard let refusal = error as? TandemError, refusal.code == .sql, refusal.message.contains("already exists")
            else { throw error }
            // The schema in the store's settings was lost, but its tables exist.
            throw TandemError(
                .corrupt, message: "The store is damaged: its settings lack some of its tables.",
                advice: "Restore a backup.", store: connection.path, underlying: refusal)
        }
        // Statements that were prepared for the old tables must not be used again.
        connection.finalizeStatements()
        return nil
    }

    /// Uses the store's tables unchanged if they match the models. Returns whether they do.
    private func adopt() throws -> Bool {
        // Read a single state: another process may be migrating.
        try connection.consistently(true) {
            guard let stored = try read(), try fits(stored) else { return false }
            connection.schemaStamp = stored.stamp
            connection.dataVersion = try connection.value("PRAGMA data_version")
            return true
        }
    }

    /// Returns whether the store's tables match the models.
    private func fits(_ stored: Stored) throws -> Bool {
        if stored.schemaVersion > configuration.schemaVersion {
            throw TandemError(
                .newerSchema,
                message: "The store has schema version \(stored.schemaVersion), newer than this app's "
                    + "\(configuration.schemaVersion).",
                advice: "Open it with the newer app. The store was not changed.", store: connection.path)
        }
        let wanted = wanted.models
        guard stored.format == Self.formatVersion, stored.schemaVersion == configuration.schemaVersion,
            stored.keyRules == keyRules
        else { return false }
        if configuration.isReadOnly {
            return wanted.allSatisfy { model in
                var found = stored.record.model(named: model.name)?.withoutNotes
                found?.isAbsent = nil
                found?.stateIndexes = model.stateIndexes
                return found == model.withoutNotes
            }
        }
        let names = Set(wanted.map(\.name))
        return wanted.allSatisfy { stored.record.model(named: $0.name) == $0 }
            && stored.record.models.allSatisfy { names.contains($0.name) || $0.isAbsent == true }
    }

    private func readOnlyMismatch(_ stored: Stored?) -> TandemError {
        let format = stored?.format ?? Self.formatVersion
        let message: String
        var advice = "Open it once for writing, so that it is migrated."
        if format < Self.formatVersion {
            message =
                "The store's format, \(format), is older than this version of Tandem's, and it was opened read-only."
        } else if let stored, !stored.keyRules.sorts(as: keyRules), let order = stored.keyRules.order {
            message = "The store has \(order), and it was opened read-only with \(keyRules.order ?? "another one")."
            advice = "Open it with the same Configuration.sortLanguage and sortsNumbersByValue."
        } else {
            message = "The store's schema differs from the models, and it was opened read-only."
        }
        return TandemError(.schemaMismatch, message: message, advice: advice, store: connection.path)
    }

    // MARK: Recorded models

    /// Reads the schema that a store records, to open the store without the Swift types of its models.
    ///
    /// - Throws: ``TandemError/Code/schemaMismatch`` if the store must first be opened by its app. It has an older
    ///   format or older keys. Or it is opened for writing, and was salvaged or lacks the delete rules.
    func recorded() throws -> Stored {
        guard let stored = try connection.consistently(true, body: { try read() }) else {
            throw TandemError(
                .cannotOpen, message: "The store is empty.", advice: "Open it once with its app.",
                store: connection.path)
        }
        func refusal(_ message: String) -> TandemError {
            TandemError(
                .schemaMismatch, message: message, advice: "Open it once with its app, so that it is migrated.",
                store: connection.path)
        }
        guard stored.format == Self.formatVersion else {
            throw refusal("The store's format, \(stored.format), is older than this version of Tandem's.")
        }
        guard stored.keyRules.folding == Folding.version, stored.keyRules.collation == Collation.version else {
            throw refusal("The store's sort and search keys are of another version of Tandem.")
        }
        guard !configuration.isReadOnly else { return stored }
        if let model = stored.record.models.first(where: { !$0.hasValidKeys }) {
            throw refusal("The search index and the sort keys of the model \(model.name) must be rebuilt first.")
        }
        if !stored.record.hasDeleteRules {
            throw refusal("An earlier version of Tandem wrote the store, without the delete rules of its references.")
        }
        return stored
    }

    /// Uses the store's tables with definitions that were made from its record.
    ///
    /// - Throws: ``TandemError/Code/foreignSchemaChange`` if the record has changed since.
    func adoptRecorded(_ expected: Stored) throws {
        try connection.consistently(true) {
            let stored = try recorded()
            guard stored.stamp == expected.stamp, stored.record.hasTables(of: expected.record) else {
                throw TandemError(
                    .foreignSchemaChange, message: "Another process changes the store's schema.",
                    advice: "Open the store again.", store: connection.path)
            }
            connection.schemaStamp = stored.stamp
            connection.dataVersion = try connection.value("PRAGMA data_version")
        }
    }

    // MARK: Settings

    private func read() throws -> Stored? {
        let setting = connection.setting(_:)
        func damaged(_ key: String) -> TandemError {
            TandemError(
                .corrupt, message: "The store's setting \"\(key)\" is missing or damaged.", advice: "Restore a backup.",
                store: connection.path)
        }
        guard try connection.value("SELECT 1 FROM sqlite_master WHERE name = '__settings'") != nil else {
            // A store gets its application ID and its settings in the same transaction.
            if try connection.value("PRAGMA application_id") == .integer(DatabaseHead.applicationID) {
                throw damaged("formatVersion")
            }
            return nil
        }
        guard case .integer(let format)? = try setting("formatVersion") else { throw damaged("formatVersion") }
        guard format <= Self.formatVersion else {
            throw TandemError(
                .newerSchema, message: "The store's format, \(format), is newer than this version of Tandem's.",
                advice: "Open it with the newer version. The store was not changed.", store: connection.path)
        }
        guard case .integer(let version)? = try setting("schemaVersion") else { throw damaged("schemaVersion") }
        guard case .integer(let folding)? = try setting("foldingVersion") else { throw damaged("foldingVersion") }
        guard case .text(let stamp)? = try setting("schemaStamp") else { throw damaged("schemaStamp") }
        guard case .text(let json)? = try setting("schema"), let record = try? SchemaRecord(json: json) else {
            throw damaged("schema")
        }
        return Stored(
            format: format, record: record, schemaVersion: Int(version),
            keyRules: try KeyRules(folding: Int(folding), settingsOf: connection), stamp: stamp)
    }

    private func write(_ record: SchemaRecord, stamp: String) throws {
        let settings: [(String, StorageValue)] =
            [
                ("formatVersion", .integer(Self.formatVersion)),
                ("schemaVersion", .integer(Int64(configuration.schemaVersion))),
                ("schema", .text(try record.json)),
                ("schemaStamp", .text(stamp)),
            ] + keyRules.settings
        for (key, value) in settings {
            try connection.execute(
                """
                INSERT INTO "__settings" ("key", "value") VALUES (?, ?) \
                ON CONFLICT ("key") DO UPDATE SET "value" = excluded."value"
                """, binding: [.text(key), value])
        }
        connection.schemaStamp = stamp
    }

    // MARK: Migrating

    private func migrate(_ stored: Stored?) throws -> PendingMigration? {
        if stored == nil {
            try connection.execute("PRAGMA application_id = \(DatabaseHead.applicationID)")
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
            oldFolding: stored.flatMap { $0.keyRules == keyRules ? nil : $0.keyRules.folding },
            configuration: configuration)
        try migrator.run()
        let record = migrator.finalRecord
        // A process that has the store open need not open it again if its tables do not change. A process with an older
        // format must open the store again, because it would not maintain the additions. A process with another sort
        // order would mix its keys with the new ones. Such processes detect the change by the stamp.
        let isSame =
            stored.map { stored in
                stored.format == Self.formatVersion && stored.schemaVersion == configuration.schemaVersion
                    && stored.keyRules == keyRules && record.hasTables(of: stored.record)
            } ?? false
        try write(record, stamp: isSame ? stored?.stamp ?? "" : UUIDv7.shared.next())
        return migrator.pending
    }
}
