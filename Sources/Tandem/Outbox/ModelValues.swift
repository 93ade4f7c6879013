import Foundation

/// A model's values as a store has them, and back, without a store: the sides of a conflict are not in any table.
package enum ModelValues {
    /// An object made of stored values.
    ///
    /// - Parameters:
    ///   - values: By the properties' names in Swift, references by local IDs. What they do not name has its default.
    /// - Throws: ``TandemError/Code/corrupt`` if a value is none of its property's type, or one without a default is
    ///   missing.
    package static func object<M: Model>(
        _ model: M.Type, _ values: [String: StorageValue], localID: LocalID, serverID: ServerID?, version: String?,
        updatedAt: Date?
    ) throws -> M {
        let row = RowBuffer()
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
        // Generated code reads a row of SQLite's: one is made of the values, in no database.
        let statement = try BoundRow(object: M.__definition.properties.indices.map(row.value))
        var object: M = try M.read(RowReader(statement: statement.handle, base: 0), path: ":memory:")
        object.__state = state
        return object
    }

    /// The stored values of an object's properties, those that are sent, by their names in Swift.
    package static func values<M: Model>(of object: M) -> [String: StorageValue] {
        let row = RowBuffer()
        object.__append(to: row)
        return Dictionary(
            uniqueKeysWithValues: M.__definition.properties.enumerated().filter { !$1.isLocalOnly }
                .map { ($1.name, row.value(at: $0)) })
    }

    /// A property's value made of its stored form.
    static func value<E: PropertyExpression>(
        of expression: E, _ stored: StorageValue, of property: PropertyDefinition
    ) throws -> E.Value {
        // SQLite reads NULL, and a text, as the number 0.
        guard stored == .null ? property.isOptional : property.kind.isStored(as: stored) else {
            throw TandemError(
                .corrupt, "The value is none of the property's type: it is \(stored).",
                advice: "Look at it in its stored form.", model: expression.__column.model.name,
                property: property.name)
        }
        do {
            return try BoundRow.reading(stored) { try expression.__read($0, BoundRow.column) }
        } catch let error as InvalidStoredValue {
            throw TandemError(
                .corrupt, "The value is none of the property's type: \(error.reason).",
                advice: "Look at it in its stored form.", model: expression.__column.model.name,
                property: property.name)
        }
    }

    /// A list of references as it is stored.
    package static func list(_ ids: [LocalID]) -> StorageValue { .text(LinkList.text(ids)) }
}
