/// Functions that read stored values as the types of properties. The values come from rows of
/// ``Store/sql(_:binding:)``, from ``PendingOperation/base``, or from migration steps.
///
/// For example:
///
/// ```swift
/// let row = try store.sql("SELECT shop, validUntil FROM Card WHERE localID = ?", [.text(id.rawValue)])[0]
/// let shop = try row[0].value(as: String.self)
/// let validUntil = try row.value("validUntil", as: Date?.self)
/// ```
///
/// There is a function for each family of types that a property can have, as for a model's own properties.
extension StorageValue {
    /// Reads the value as a type.
    ///
    /// - Parameter type: Any type that a property can have: see ``PropertyValue``.
    /// - Throws: ``TandemError/Code/invalidValue`` if it is NULL, or a value of another type.
    public func value<T: PropertyValue>(as type: T.Type) throws -> T {
        try reading(type) { row in
            let value = try row.value(0, as: type)
            try checkClass(of: value)
            return value
        }
    }

    /// Reads the value as an optional type. NULL is `nil`.
    ///
    /// - Throws: ``TandemError/Code/invalidValue`` if it is a value of another type.
    public func value<T: PropertyValue>(as type: T?.Type) throws -> T? {
        self == .null ? nil : try value(as: T.self)
    }

    /// Reads the value as an enum with a raw value.
    ///
    /// - Throws: ``TandemError/Code/invalidValue`` if it is NULL, or not the raw value of a case.
    public func value<T: RawRepresentable & Sendable>(as type: T.Type) throws -> T where T.RawValue: PropertyValue {
        try reading(type) { row in
            let value = try row.value(0, as: type)
            try checkClass(of: value.rawValue)
            return value
        }
    }

    /// Reads the value as an optional enum with a raw value. NULL is `nil`.
    ///
    /// - Throws: ``TandemError/Code/invalidValue`` if it is not the raw value of a case.
    public func value<T: RawRepresentable & Sendable>(as type: T?.Type) throws -> T?
    where T.RawValue: PropertyValue {
        self == .null ? nil : try value(as: T.self)
    }

    /// Reads the value as a `Codable` type, which is stored as JSON.
    ///
    /// - Throws: ``TandemError/Code/invalidValue`` if it is NULL or can't be decoded.
    @_disfavoredOverload
    public func value<T: Codable & Sendable>(as type: T.Type) throws -> T {
        try reading(type) { try $0.value(0, as: type) }
    }

    /// Reads the value as an optional `Codable` type, which is stored as JSON. NULL is `nil`.
    ///
    /// - Throws: ``TandemError/Code/invalidValue`` if it can't be decoded.
    @_disfavoredOverload
    public func value<T: Codable & Sendable>(as type: T?.Type) throws -> T? {
        try reading(type) { try $0.value(0, as: type) }
    }

    /// Rejects values that SQLite has converted: it reads NULL and a text as the number 0.
    private func checkClass(of value: some PropertyValue) throws {
        let row = RowEncoder()
        value.__append(to: row)
        switch (self, row.value(at: 0)) {
        case (.integer, .integer), (.integer, .real), (.real, .real), (.text, .text), (.blob, .blob): return
        default: throw InvalidStoredValue(column: BoundRow.column, reason: "it is \(self)")
        }
    }

    private func reading<T>(_ type: T.Type, read: (RowDecoder) throws -> T) throws -> T {
        do {
            return try BoundRow.reading(self, read: read)
        } catch let error as InvalidStoredValue {
            throw TandemError(
                .invalidValue, message: "A stored value is not a \(T.self): \(error.reason).",
                advice: "Read it as the type of its property.")
        }
    }
}

/// Functions that read a row's values by the names of its columns. See the functions of ``StorageValue`` with the same
/// name.
extension SQLRow {
    /// Reads the value of the first column with a name.
    ///
    /// - Parameters:
    ///   - column: The column's name in the statement.
    ///   - type: The type of the value.
    /// - Throws: ``TandemError/Code/invalidQuery`` if the column does not exist, ``TandemError/Code/invalidValue`` if
    ///   the value has another type.
    public func value<T: PropertyValue>(_ column: String, as type: T.Type) throws -> T {
        try reading(column) { try $0.value(as: type) }
    }

    /// Reads the value of the first column with a name. NULL is `nil`.
    ///
    /// - Parameters:
    ///   - column: The column's name in the statement.
    ///   - type: The type of the value.
    /// - Throws: ``TandemError/Code/invalidQuery`` if the column does not exist, ``TandemError/Code/invalidValue`` if
    ///   the value has another type.
    public func value<T: PropertyValue>(_ column: String, as type: T?.Type) throws -> T? {
        try reading(column) { try $0.value(as: type) }
    }

    /// Reads the value of the first column with a name as an enum with a raw value.
    ///
    /// - Parameters:
    ///   - column: The column's name in the statement.
    ///   - type: The type of the value.
    /// - Throws: ``TandemError/Code/invalidQuery`` if the column does not exist, ``TandemError/Code/invalidValue`` if
    ///   the value has another type.
    public func value<T: RawRepresentable & Sendable>(_ column: String, as type: T.Type) throws -> T
    where T.RawValue: PropertyValue {
        try reading(column) { try $0.value(as: type) }
    }

    /// Reads the value of the first column with a name as an enum with a raw value. NULL is `nil`.
    ///
    /// - Parameters:
    ///   - column: The column's name in the statement.
    ///   - type: The type of the value.
    /// - Throws: ``TandemError/Code/invalidQuery`` if the column does not exist, ``TandemError/Code/invalidValue`` if
    ///   the value has another type.
    public func value<T: RawRepresentable & Sendable>(_ column: String, as type: T?.Type) throws -> T?
    where T.RawValue: PropertyValue {
        try reading(column) { try $0.value(as: type) }
    }

    /// Reads the value of the first column with a name as a `Codable` type.
    ///
    /// - Parameters:
    ///   - column: The column's name in the statement.
    ///   - type: The type of the value.
    /// - Throws: ``TandemError/Code/invalidQuery`` if the column does not exist, ``TandemError/Code/invalidValue`` if
    ///   the value has another type.
    @_disfavoredOverload
    public func value<T: Codable & Sendable>(_ column: String, as type: T.Type) throws -> T {
        try reading(column) { try $0.value(as: type) }
    }

    /// Reads the value of the first column with a name as a `Codable` type. NULL is `nil`.
    ///
    /// - Parameters:
    ///   - column: The column's name in the statement.
    ///   - type: The type of the value.
    /// - Throws: ``TandemError/Code/invalidQuery`` if the column does not exist, ``TandemError/Code/invalidValue`` if
    ///   the value has another type.
    @_disfavoredOverload
    public func value<T: Codable & Sendable>(_ column: String, as type: T?.Type) throws -> T? {
        try reading(column) { try $0.value(as: type) }
    }

    private func reading<T>(_ column: String, read: (StorageValue) throws -> T) throws -> T {
        guard let value = self[column] else {
            throw TandemError(
                .invalidQuery,
                message: "The row has no column \"\(column)\". Its columns are: \(columns.joined(separator: ", ")).",
                advice: "Use the name of one of its columns, or name the expression with AS.")
        }
        do {
            return try read(value)
        } catch var error as TandemError {
            error.property = column
            throw error
        }
    }
}
