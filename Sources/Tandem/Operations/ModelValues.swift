import Foundation

/// A converter between models and stored values. It needs no store: the sides of a conflict are not in any table.
package enum ModelValues {
    /// Creates an object from stored values.
    ///
    /// - Parameters:
    ///   - values: The values by the properties' names in Swift, references by local IDs. Missing properties have their
    ///     defaults.
    /// - Throws: ``TandemError/Code/corrupt`` if a value does not have its property's type, or one without a default is
    ///   missing.
    package static func object<M: Model>(
        _ model: M.Type, values: [String: StorageValue], localID: LocalID, serverID: ServerID?, version: String?,
        updatedAt: Date?
    ) throws -> M {
        let row = RowEncoder()
        for property in M.__definition.properties {
            if let value = values[property.name] {
                row.append(value)
            } else if let appendDefault = property.appendDefault {
                appendDefault(row)
            } else {
                row.appendNull()
            }
        }
        var state = ObjectState(localID: localID)
        state.serverID = serverID
        state.version = version
        state.updatedAt = updatedAt
        // Generated code reads a row of SQLite. This row is built from the values, without a database.
        let statement = try BoundRow(object: M.__definition.properties.indices.map(row.value))
        var object: M = try M.read(RowDecoder(statement: statement.handle, base: 0), path: ":memory:")
        object.__state = state
        return object
    }

    /// Returns the stored values of an object's sent properties, by their names in Swift.
    package static func values<M: Model>(of object: M) -> [String: StorageValue] {
        let row = RowEncoder()
        object.__append(to: row)
        return Dictionary(
            uniqueKeysWithValues: M.__definition.properties.enumerated().filter { !$1.isLocalOnly }
                .map { ($1.name, row.value(at: $0)) })
    }

    /// Returns a property's value from its stored form.
    static func value<E: PropertyExpression>(
        of expression: E, stored: StorageValue, of property: PropertyDefinition
    ) throws -> E.Value {
        // SQLite reads NULL and texts as the number 0.
        guard stored == .null ? property.isOptional : property.kind.isStored(as: stored) else {
            throw TandemError(
                .corrupt, message: "The value does not have the property's type: it is \(stored).",
                advice: "Read its stored form.", model: expression.__column.model.name,
                property: property.name)
        }
        do {
            return try BoundRow.reading(stored) { try expression.__read($0, BoundRow.column) }
        } catch let error as InvalidStoredValue {
            throw TandemError(
                .corrupt, message: "The value does not have the property's type: \(error.reason).",
                advice: "Read its stored form.", model: expression.__column.model.name,
                property: property.name)
        }
    }

    /// Returns a list of references in its stored form.
    package static func list(_ ids: [LocalID]) -> StorageValue { .text(LinkList.text(ids)) }
}
