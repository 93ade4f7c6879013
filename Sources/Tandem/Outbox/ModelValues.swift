import Foundation
import GRDBSQLite

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
        let statement = try BoundRow(row, of: M.__definition)
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
        let model = expression.__column.model
        let statement = try BoundRow([stored], of: model)
        do {
            return try expression.__read(RowReader(statement: statement.handle, base: 0), BoundRow.firstProperty)
        } catch let error as InvalidStoredValue {
            throw TandemError(
                .corrupt, "The value is none of the property's type: \(error.reason).",
                advice: "Look at it in its stored form.", model: model.name, property: property.name)
        }
    }

    /// A list of references as it is stored.
    package static func list(_ ids: [LocalID]) -> StorageValue { .text(LinkList.text(ids)) }
}

/// A row of values that stand in no table.
private final class BoundRow {
    private let database: OpaquePointer?
    let handle: OpaquePointer

    /// Where the first property's column is: the state's come before.
    static let firstProperty = Int32(RowReader.stateColumns.count)

    convenience init(_ row: RowBuffer, of model: ModelDefinition) throws {
        try self.init(model.properties.indices.map(row.value), of: model)
    }

    init(_ values: [StorageValue], of model: ModelDefinition) throws {
        var database: OpaquePointer?
        var handle: OpaquePointer?
        let state = RowReader.stateColumns.map { $0 == "localID" ? "''" : "NULL" }
        let columns = state + values.map { _ in "?" }
        let code = sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        guard code == SQLITE_OK,
            sqlite3_prepare_v2(database, "SELECT \(columns.joined(separator: ", "))", -1, &handle, nil) == SQLITE_OK,
            let handle
        else {
            sqlite3_close_v2(database)
            throw TandemError(
                .sql, "SQLite has no memory for a row.", advice: "Free some.", store: ":memory:", model: model.name)
        }
        self.database = database
        self.handle = handle
        for (index, value) in values.enumerated() { bind(Int32(index + 1), value) }
        // One that does not stand on its row reads as NULLs, which are told as such.
        _ = sqlite3_step(handle)
    }

    deinit {
        sqlite3_finalize(handle)
        sqlite3_close_v2(database)
    }

    private func bind(_ index: Int32, _ value: StorageValue) {
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let value): sqlite3_bind_int64(handle, index, value)
        case .real(let value): sqlite3_bind_double(handle, index, value)
        case .text(let value):
            sqlite3_bind_text(handle, index, value, Int32(clamping: value.utf8.count), transient)
        case .blob(let value):
            // A null pointer would bind NULL.
            _ =
                value.isEmpty
                ? sqlite3_bind_zeroblob(handle, index, 0)
                : sqlite3_bind_blob(handle, index, value, Int32(clamping: value.count), transient)
        }
    }
}
