import Foundation

/// What a migration step can do to a store of an older version, before its tables are fitted to the models.
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
/// Added and removed properties, models and indexes need no step, nor do renames that the models tell of by `@Renamed`.
public final class Migration {
    let connection: Connection
    private(set) var record: SchemaRecord
    /// The version that the store has.
    public let oldVersion: Int
    /// The version that it will have.
    public let newVersion: Int
    /// Turns an old stored value into a new one.
    typealias Conversion = (StorageValue) throws -> StorageValue
    /// Conversions by the old column: names change, and several versions may convert one property in turn.
    private var conversions: [OldColumn: Conversion] = [:]
    /// Conversions of properties that have got their names by a rename that the models tell of.
    private var conversionsToCome: [(model: String, property: String, convert: Conversion)] = []
    /// The models to be dropped with their objects.
    private(set) var deletedTables: [SchemaRecord.Model] = []
    /// The models as they are in the store, by their tables.
    let originals: [String: SchemaRecord.Model]
    /// The objects to be gone through when the tables fit the models.
    var enumerations: [Enumeration] = []
    /// The tables whose rows SQL may have changed: what follows from them is made anew.
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

    /// Says that a model had another name.
    ///
    /// - Throws: ``TandemError/Code/schemaMismatch`` if the store has no model of the old name.
    public func renameModel(_ oldName: String, to newName: String) throws {
        let index = try modelIndex(oldName)
        guard record.model(named: newName) == nil else {
            throw TandemError(
                .schemaMismatch, "The store has a model \(newName) already.", advice: "Correct the migration step.",
                store: connection.path, model: oldName)
        }
        rename(modelAt: index, to: newName)
    }

    private func rename(modelAt index: Int, to newName: String) {
        let oldName = record.models[index].name
        record.models[index].name = newName
        // References are kept with the name of their model.
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

    /// Says that a property had another name.
    ///
    /// - Throws: ``TandemError/Code/schemaMismatch`` if the store has no such property.
    public func renameProperty(_ oldName: String, to newName: String, of model: String) throws {
        let index = try modelIndex(model)
        func refuse(_ message: String) -> TandemError {
            TandemError(
                .schemaMismatch, message, advice: "Correct the migration step.", store: connection.path, model: model,
                property: oldName)
        }
        guard let property = record.models[index].properties.firstIndex(where: { $0.name == oldName }) else {
            throw refuse("The store has no such property to rename to \(newName).")
        }
        guard record.models[index].property(named: newName) == nil else {
            throw refuse("The store has a property \(newName) already.")
        }
        record.models[index].properties[property].name = newName
    }

    /// Drops a model's objects and their operations.
    public func deleteModel(_ name: String) throws {
        let index = try modelIndex(name)
        deletedTables.append(record.models.remove(at: index))
    }

    /// Converts a property's stored values, for a change of type that has no rule of its own.
    ///
    /// - Parameters:
    ///   - property: The property's name, after renames.
    ///   - model: The model's name, after renames.
    ///   - convert: Makes the new stored value of the old one; see ``stored(_:)``.
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

    /// Finds the properties of conversions that came before their renames.
    func resolveConversions() throws {
        for (name, property, convert) in conversionsToCome {
            guard let model = record.model(named: name), let old = model.property(named: property) else {
                throw TandemError(
                    .schemaMismatch, "The store has no such property to convert.",
                    advice: "Correct the migration step.", store: connection.path, model: name, property: property)
            }
            add(convert, to: OldColumn(table: model.table, column: old.column))
        }
        conversionsToCome = []
    }

    func conversion(of property: SchemaRecord.Property, in model: SchemaRecord.Model) -> Conversion? {
        conversions[OldColumn(table: model.table, column: property.column)]
    }

    /// The stored form of a value.
    public static func stored<T: PropertyValue>(_ value: T) -> StorageValue {
        Codec<T>(
            kind: T.__kind, isOptional: false, append: { $0.__append(to: $1) }, read: { try T.__read($0, $1) },
            fromJSON: { T(__json: $0) }, target: nil
        ).storageValue(value)
    }

    /// Runs an SQL statement on the tables as they are, and returns its rows. For what neither
    /// ``convert(_:of:_:)`` nor ``enumerateObjects(of:queued:_:)`` can say.
    ///
    /// Values are written in their stored form: see ``stored(_:)`` and <doc:StorageFormat>. Each value that the models
    /// have is read afterwards, and one that is none of its property's type ends the migration. Columns that Tandem keeps
    /// beside the properties (folded texts, search, links of lists) are made anew for every table that a statement which
    /// writes names. Change none of them, and no table whose name begins with `__`.
    ///
    /// No statement queues an operation: what it changes is not sent. Operations of rows that it deletes go.
    ///
    /// - Parameters:
    ///   - sql: One statement, which begins and ends no transaction.
    ///   - values: The values for its parameters (`?`), in order.
    /// - Throws: ``TandemError/Code/invalidQuery`` if it is no such statement, ``TandemError/Code/sql`` if SQLite refuses
    ///   it.
    @discardableResult
    public func sql(_ sql: String, _ values: [StorageValue] = []) throws -> [SQLRow] {
        guard SQLText(sql).isOneStatement else {
            throw TandemError(
                .invalidQuery, "It is not one statement.", advice: "Run each by itself.", store: connection.path)
        }
        let statement = try connection.uncachedStatement(sql)
        guard !statement.isControl else {
            throw TandemError(
                .invalidQuery, "The transaction and the connection are the migration's: \(sql)",
                advice: "Read and change tables only.", store: connection.path)
        }
        if !statement.isReadOnly { noteChanges(by: sql) }
        return try SQLRow.fetch(statement, values, on: connection)
    }

    /// Notes which tables a statement can change: those that it names. In a table's name that has more than letters,
    /// digits and `_` quotes may be doubled, so such a table is always noted.
    private func noteChanges(by sql: String) {
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
                .schemaMismatch, "The store has no such model.", advice: "Correct the migration step.",
                store: connection.path, model: name)
        }
        return index
    }

    /// A rename that the models tell of.
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
