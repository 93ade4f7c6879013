import Foundation
import GRDBSQLite

/// A row from which generated code reads a model's properties: a statement's current row, or a row in memory.
///
/// It is valid only until the statement's next step, or inside the function that received it.
public struct RowDecoder {
    private let source: UnsafeRawPointer
    private let isPacked: Bool

    /// The index of the first state column. The properties follow the state.
    let base: Int32

    /// Creates a reader of a statement's current row.
    init(statement: OpaquePointer, base: Int32) {
        source = UnsafeRawPointer(statement)
        isPacked = false
        self.base = base
    }

    /// Creates a reader of values in memory, which begin with those of the state.
    init(_ columns: UnsafePointer<PackedColumn>) {
        source = UnsafeRawPointer(columns)
        isPacked = true
        base = 0
    }

    /// The statement. Only rows of statements have one.
    var statement: OpaquePointer { OpaquePointer(source) }

    @inline(__always)
    private func packed(_ column: Int32) -> PackedColumn {
        source.assumingMemoryBound(to: PackedColumn.self)[Int(column)]
    }

    /// The columns of an object's state, in the order in which every query selects them.
    static let stateColumns = [
        "__rid", "localID", "serverID", "synced", "deleted", "version", "createdAt", "updatedAt",
    ]

    /// The object's IDs and state.
    public var state: ObjectState {
        get throws {
            var state = ObjectState(localID: LocalID(try text(base + 1)))
            state.rowID = integer(base)
            if !isNull(base + 2) { state.serverID = ServerID(try text(base + 2)) }
            state.isSynced = Int32(truncatingIfNeeded: integer(base + 3)) != 0
            state.isDeleted = Int32(truncatingIfNeeded: integer(base + 4)) != 0
            if !isNull(base + 5) { state.version = try text(base + 5) }
            if !isNull(base + 6) { state.createdAt = try Date.__read(self, column: base + 6) }
            if !isNull(base + 7) { state.updatedAt = try Date.__read(self, column: base + 7) }
            return state
        }
    }

    /// Returns the column of a property.
    @inlinable func column(_ property: Int) -> Int32 {
        propertyBase + Int32(truncatingIfNeeded: property)
    }

    @usableFromInline var propertyBase: Int32 { base + 8 }

    /// Returns whether a column is NULL.
    public func isNull(_ column: Int32) -> Bool {
        type(column) == SQLITE_NULL
    }

    /// Returns the integer in a column.
    public func integer(_ column: Int32) -> Int64 {
        isPacked ? packed(column).integer : sqlite3_column_int64(statement, column)
    }

    func real(_ column: Int32) -> Double {
        isPacked ? packed(column).real : sqlite3_column_double(statement, column)
    }

    func type(_ column: Int32) -> Int32 {
        isPacked ? packed(column).type : sqlite3_column_type(statement, column)
    }

    /// Returns the text in a column, including U+0000.
    func text(_ column: Int32) throws -> String {
        if isPacked {
            if let text = packed(column).text { return text }
            throw InvalidStoredValue(column: column, reason: "the value is not a text, but a text was expected")
        }
        return String(decoding: try textBytes(column), as: UTF8.self)
    }

    /// Returns the bytes of the text in a column of a statement.
    func textBytes(_ column: Int32) throws -> UnsafeRawBufferPointer {
        guard let pointer = sqlite3_column_text(statement, column) else {
            throw InvalidStoredValue(column: column, reason: "the value is NULL, but a text was expected")
        }
        return UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(statement, column)))
    }

    /// Returns the bytes in a column, which are empty for an empty blob.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        if isPacked { return packed(column).bytes }
        let pointer = sqlite3_column_blob(statement, column)
        return UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(statement, column)))
    }

    /// Converts a column's value to text, so that its bytes are those of a text.
    func text(validating column: Int32) {
        if !isPacked { sqlite3_column_text(statement, column) }
    }

    /// Decodes a column's bytes. An error names the column.
    func decode<T>(_ column: Int32, decode: (UnsafeRawBufferPointer) throws -> T) throws -> T {
        do {
            return try decode(bytes(column))
        } catch {
            throw InvalidStoredValue(column: column, reason: "\(error)")
        }
    }

    /// Returns a column's value in its stored form.
    func storageValue(_ column: Int32) -> StorageValue {
        switch type(column) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_FLOAT: .real(real(column))
        case SQLITE_TEXT: (try? text(column)).map { .text($0) } ?? .null
        case SQLITE_BLOB: .blob(Array(bytes(column)))
        default: .null
        }
    }
}

/// SQLite's constants for its storage classes.
enum StorageClass {
    static let integer = SQLITE_INTEGER
    static let real = SQLITE_FLOAT
    static let text = SQLITE_TEXT
    static let blob = SQLITE_BLOB
    static let null = SQLITE_NULL
}

/// Functions that read a property, for the same families of types as in ``RowEncoder``.
extension RowDecoder {
    /// Reads a stored type.
    ///
    /// - Parameters:
    ///   - property: The index of the property in the model's definition.
    ///   - type: The property's type.
    /// - Throws: ``InvalidStoredValue`` or another error if the stored value does not have this type.
    @inlinable public func value<T: PropertyValue>(_ property: Int, as type: T.Type) throws -> T {
        try T.__read(self, column: column(property))
    }

    /// Reads an optional stored type.
    ///
    /// - Parameters:
    ///   - property: The index of the property in the model's definition.
    ///   - type: The property's type.
    /// - Throws: ``InvalidStoredValue`` or another error if the stored value does not have this type.
    @inlinable public func value<T: PropertyValue>(_ property: Int, as type: T?.Type) throws -> T? {
        let column = column(property)
        return isNull(column) ? nil : try T.__read(self, column: column)
    }

    /// Reads a type with a stored raw value.
    ///
    /// - Parameters:
    ///   - property: The index of the property in the model's definition.
    ///   - type: The property's type.
    /// - Throws: ``InvalidStoredValue`` or another error if the stored value does not have this type.
    @inlinable public func value<T: RawRepresentable & Sendable>(_ property: Int, as type: T.Type) throws -> T
    where T.RawValue: PropertyValue {
        let column = column(property)
        let rawValue = try T.RawValue.__read(self, column: column)
        guard let value = T(rawValue: rawValue) else {
            throw InvalidStoredValue(column: column, reason: "\(rawValue) is not a case of \(T.self)")
        }
        return value
    }

    /// Reads an optional type with a stored raw value.
    ///
    /// - Parameters:
    ///   - property: The index of the property in the model's definition.
    ///   - type: The property's type.
    /// - Throws: ``InvalidStoredValue`` or another error if the stored value does not have this type.
    @inlinable public func value<T: RawRepresentable & Sendable>(_ property: Int, as type: T?.Type) throws -> T?
    where T.RawValue: PropertyValue {
        isNull(column(property)) ? nil : try value(property, as: T.self)
    }

    /// Reads a `Codable` value from JSON.
    ///
    /// - Parameters:
    ///   - property: The index of the property in the model's definition.
    ///   - type: The property's type.
    /// - Throws: ``InvalidStoredValue`` or another error if the stored value does not have this type.
    @_disfavoredOverload
    public func value<T: Codable & Sendable>(_ property: Int, as type: T.Type) throws -> T {
        try CodableStorage.decode(T.self, from: self, column: column(property))
    }

    /// Reads an optional `Codable` value from JSON.
    ///
    /// - Parameters:
    ///   - property: The index of the property in the model's definition.
    ///   - type: The property's type.
    /// - Throws: ``InvalidStoredValue`` or another error if the stored value does not have this type.
    @_disfavoredOverload
    public func value<T: Codable & Sendable>(_ property: Int, as type: T?.Type) throws -> T? {
        let column = column(property)
        return isNull(column) ? nil : try CodableStorage.decode(T.self, from: self, column: column)
    }
}
