import Foundation

/// The interface of a migration step, which changes a store of an older version.
///
/// The step runs before the store's tables are adapted to the models.
///
/// For example:
///
/// ```swift
/// configuration.schemaVersion = 2
/// configuration.migrate(to: 2) { migration in
///     try migration.renameProperty("shopName", to: "shop", of: "Card")
///     try migration.convert("points", of: "Card") { value in
///         // It was a String, and is a BigInt from now on.
///         guard case .text(let text) = value, let number = BigInt(text) else { return .null }
///         return Migration.stored(number)
///     }
/// }
/// ```
///
/// Added and removed properties, models and indexes need no step. Renames that the models declare with `@Renamed` need
/// none either.
public final class Migration {
    let connection: Connection
    private(set) var record: SchemaRecord
    /// The current version of the store.
    public let oldVersion: Int
    /// The version of the store after the migration.
    public let newVersion: Int
    /// Converts an old stored value to a new one.
    typealias Conversion = (StorageValue) throws -> StorageValue
    /// Conversions by old column. Names change, and several versions may convert a property in sequence.
    private var conversions: [OldColumn: Conversion] = [:]
    /// Conversions of properties whose names come from a rename that the models declare.
    private var conversionsToCome: [(model: String, property: String, convert: Conversion)] = []
    /// The models to delete with their objects.
    private(set) var deletedTables: [SchemaRecord.Model] = []
    /// The models in the store, by table.
    let originals: [String: SchemaRecord.Model]
    /// The objects to enumerate after the tables were adapted.
    var enumerations: [Enumeration] = []
    /// The tables whose rows SQL may have changed. Their derived data is rebuilt.
    private(set) var changedTables: Set<String> = []

    private struct OldColumn: Hashable {
        let table: String
        let column: String
    }

    init(connection: Connection, record: SchemaRecord, oldVersion: Int, newVersion: Int) {
        self.connection = connection
        self.record = record
        originals = Dictionary(record.models.map { ($0.table, $0) }, uniquingKeysWith: { first, _ in first })
        self.oldVersion = oldVersion
        self.newVersion = newVersion
    }

    /// Renames a model.
    ///
    /// - Parameters:
    ///   - oldName: The model's name in the store.
    ///   - newName: The model's name in Swift now.
    /// - Throws: ``TandemError/Code/schemaMismatch`` if the store has no model with the old name.
    public func renameModel(_ oldName: String, to newName: String) throws {
        let index = try modelIndex(oldName)
        guard record.model(named: newName) == nil else {
            throw TandemError(
                .schemaMismatch, message: "The store already has a model \(newName).",
                advice: "Correct the migration step.",
                store: connection.path, model: oldName)
        }
        rename(modelAt: index, to: newName)
    }

    private func rename(modelAt index: Int, to newName: String) {
        let oldName = record.models[index].name
        record.models[index].name = newName
        // References contain the name of their model.
        for model in record.models.indices {
            for property in record.models[model].properties.indices {
                switch record.models[model].properties[property].kind {
                case .reference(oldName): record.models[model].properties[property].kind = .reference(newName)
                case .references(oldName): record.models[model].properties[property].kind = .references(newName)
                default: break
                }
            }
        }
    }

    /// Renames a property.
    ///
    /// - Parameters:
    ///   - oldName: The property's name in the store.
    ///   - newName: The property's name in Swift now.
    ///   - model: The model's name, after renames.
    /// - Throws: ``TandemError/Code/schemaMismatch`` if the store does not have this property.
    public func renameProperty(_ oldName: String, to newName: String, of model: String) throws {
        let index = try modelIndex(model)
        func refuse(_ message: String) -> TandemError {
            TandemError(
                .schemaMismatch, message: message, advice: "Correct the migration step.", store: connection.path,
                model: model,
                property: oldName)
        }
        guard let property = record.models[index].properties.firstIndex(where: { $0.name == oldName }) else {
            throw refuse("The store does not have the property to rename to \(newName).")
        }
        guard record.models[index].property(named: newName) == nil else {
            throw refuse("The store already has a property \(newName).")
        }
        record.models[index].properties[property].name = newName
    }

    /// Deletes a model's objects and their operations.
    ///
    /// - Parameter name: The model's name, after renames.
    /// - Throws: ``TandemError/Code/schemaMismatch`` if the store has no such model.
    public func deleteModel(_ name: String) throws {
        let index = try modelIndex(name)
        deletedTables.append(record.models.remove(at: index))
    }

    /// Converts a property's stored values, for a change of type without a built-in rule.
    ///
    /// - Parameters:
    ///   - property: The property's name, after renames.
    ///   - model: The model's name, after renames.
    ///   - convert: Converts an old stored value to the new one. See ``stored(_:)``.
    /// - Throws: ``TandemError/Code/schemaMismatch`` if the store does not have this property, and the errors of the
    ///   closure.
    public func convert(
        _ property: String, of model: String, _ convert: @escaping (StorageValue) throws -> StorageValue
    ) throws {
        let model = record.models[try modelIndex(model)]
        if let old = model.property(named: property) {
            add(convert, to: OldColumn(table: model.table, column: old.column))
        } else {
            conversionsToCome.append((model.name, property, convert))
        }
    }

    private func add(_ convert: @escaping Conversion, to column: OldColumn) {
        guard let earlier = conversions[column] else {
            conversions[column] = convert
            return
        }
        conversions[column] = { value in
            let value = try earlier(value)
            return value == .null ? .null : try convert(value)
        }
    }

    /// Finds the properties of conversions that preceded their renames.
    func resolveConversions() throws {
        for (name, property, convert) in conversionsToCome {
            guard let model = record.model(named: name), let old = model.property(named: property) else {
                throw TandemError(
                    .schemaMismatch, message: "The store does not have the property to convert.",
                    advice: "Correct the migration step.", store: connection.path, model: name, property: property)
            }
            add(convert, to: OldColumn(table: model.table, column: old.column))
        }
        conversionsToCome = []
    }

    func conversion(of property: SchemaRecord.Property, in model: SchemaRecord.Model) -> Conversion? {
        conversions[OldColumn(table: model.table, column: property.column)]
    }

    /// Returns the stored form of a value.
    public static func stored<T: PropertyValue>(_ value: T) -> StorageValue {
        Codec.of(T.self).storageValue(value)
    }

    /// Runs an SQL statement on the current tables, and returns its rows. Use it for changes that neither
    /// ``convert(_:of:_:)`` nor ``enumerateObjects(of:queued:_:)`` can express.
    ///
    /// Write values in their stored form: see ``stored(_:)`` and <doc:StorageFormat>. Each value of the models is read
    /// afterwards. A value that does not have its property's type ends the migration. Tandem rebuilds its own columns
    /// (folded texts, search, links of lists) for each table that a writing statement names. Do not change them, or a
    /// table whose name begins with `__`.
    ///
    /// A statement does not queue operations, so its changes are not sent. Operations of rows that it deletes are
    /// removed.
    ///
    /// - Parameters:
    ///   - sql: A single statement, which does not begin or end a transaction.
    ///   - values: The values for its parameters (`?`), in order.
    /// - Throws: ``TandemError/Code/invalidQuery`` if it is not such a statement, ``TandemError/Code/sql`` if SQLite
    ///   rejects it.
    @discardableResult
    public func sql(_ sql: String, binding values: [StorageValue] = []) throws -> [SQLRow] {
        guard SQLText(sql).isOneStatement else {
            throw TandemError(
                .invalidQuery, message: "The SQL is not a single statement.", advice: "Run each statement separately.",
                store: connection.path)
        }
        let statement = try connection.uncachedStatement(sql)
        guard !statement.isControl else {
            throw TandemError(
                .invalidQuery, message: "A migration step can't change the transaction or the connection: \(sql)",
                advice: "Only read and change tables.", store: connection.path)
        }
        if !statement.isReadOnly { recordChanges(by: sql) }
        return try SQLRow.fetch(statement, binding: values, on: connection)
    }

    /// Records the tables that a statement can change: those that it names. If a table's name has characters other than
    /// letters, digits and `_`, SQL may contain it with doubled quotes. Such a table is therefore always recorded.
    private func recordChanges(by sql: String) {
        for table in originals.keys {
            let isPlain = table.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "_") || Character(Unicode.Scalar(byte)).isLetter
                    || Character(Unicode.Scalar(byte)).isNumber
            }
            if !isPlain || sql.range(of: table, options: .caseInsensitive) != nil { changedTables.insert(table) }
        }
    }

    func modelIndex(_ name: String) throws -> Int {
        guard let index = record.models.firstIndex(where: { $0.name == name }) else {
            throw TandemError(
                .schemaMismatch, message: "The store does not have this model.", advice: "Correct the migration step.",
                store: connection.path, model: name)
        }
        return index
    }

    /// Adopts a rename that the models declare.
    func adopt(renamedModel oldName: String, to newName: String) {
        if let index = record.models.firstIndex(where: { $0.name == oldName }) { rename(modelAt: index, to: newName) }
    }

    func adopt(renamedProperty oldName: String, to newName: String, of model: String) {
        guard let index = record.models.firstIndex(where: { $0.name == model }),
            let property = record.models[index].properties.firstIndex(where: { $0.name == oldName })
        else { return }
        record.models[index].properties[property].name = newName
    }
}
