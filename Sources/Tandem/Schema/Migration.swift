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
    private let connection: Connection
    private(set) var record: SchemaRecord
    /// The version that the store has.
    public let oldVersion: Int
    /// The version that it will have.
    public let newVersion: Int
    private(set) var conversions: [String: (StorageValue) throws -> StorageValue] = [:]
    /// Models whose table had another name, by the new name in Swift.
    private(set) var deletedTables: [SchemaRecord.Model] = []

    init(connection: Connection, record: SchemaRecord, oldVersion: Int, newVersion: Int) {
        self.connection = connection
        self.record = record
        self.oldVersion = oldVersion
        self.newVersion = newVersion
    }

    /// Says that a model had another name.
    ///
    /// - Throws: ``TandemError/Code/schemaMismatch`` if the store has no model of the old name.
    public func renameModel(_ oldName: String, to newName: String) throws {
        let index = try modelIndex(oldName)
        record.models[index].name = newName
    }

    /// Says that a property had another name.
    ///
    /// - Throws: ``TandemError/Code/schemaMismatch`` if the store has no such property.
    public func renameProperty(_ oldName: String, to newName: String, of model: String) throws {
        let index = try modelIndex(model)
        guard let property = record.models[index].properties.firstIndex(where: { $0.name == oldName }) else {
            throw TandemError(
                .schemaMismatch, "The store has no such property to rename to \(newName).",
                advice: "Correct the migration step.", store: connection.path, model: model, property: oldName)
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
        _ = try modelIndex(model)
        conversions["\(model).\(property)"] = convert
    }

    /// The stored form of a value.
    public static func stored<T: PropertyValue>(_ value: T) -> StorageValue {
        Codec<T>(
            kind: T.__kind, isOptional: false, append: { $0.__append(to: $1) }, read: { try T.__read($0, $1) },
            fromJSON: { T(__json: $0) }, target: nil
        ).storageValue(value)
    }

    /// Runs an SQL statement on the tables as they are, and returns its rows.
    @discardableResult
    public func sql(_ sql: String, _ values: [StorageValue] = []) throws -> [SQLRow] {
        try SQLRow.fetch(sql, values, on: connection)
    }

    private func modelIndex(_ name: String) throws -> Int {
        guard let index = record.models.firstIndex(where: { $0.name == name }) else {
            throw TandemError(
                .schemaMismatch, "The store has no such model.", advice: "Correct the migration step.",
                store: connection.path, model: name)
        }
        return index
    }

    /// A rename that the models tell of.
    func adopt(renamedModel oldName: String, to newName: String) {
        if let index = record.models.firstIndex(where: { $0.name == oldName }) { record.models[index].name = newName }
    }

    func adopt(renamedProperty oldName: String, to newName: String, of model: String) {
        guard let index = record.models.firstIndex(where: { $0.name == model }),
            let property = record.models[index].properties.firstIndex(where: { $0.name == oldName })
        else { return }
        record.models[index].properties[property].name = newName
    }
}
