/// Writes by names. They take the path of typed writes: operations are queued, and live queries are notified.
extension WriteTransaction {
    /// Inserts a new object.
    ///
    /// ```swift
    /// try store.write { try $0.insert("Card", values: ["shop": "Лента", "barcode": "4601234567893", "points": 0]) }
    /// ```
    ///
    /// A property without a value gets its default, or nil. A store that was opened without Swift types knows no
    /// defaults: a list of references is then empty, and every other property that can't be nil needs a value.
    ///
    /// - Parameters:
    ///   - model: The model's name in Swift.
    ///   - values: The values by the properties' names.
    ///   - localID: The object's local ID, or `nil` for a new one.
    /// - Returns: The object in its stored state.
    /// - Throws: ``TandemError/Code/unknownModel``; ``TandemError/Code/invalidValue`` with the property if a name is
    ///   unknown, a value has another kind, or a value is missing; and the errors of ``insert(_:)``.
    @discardableResult
    public func insert(
        _ model: String, values: [String: DynamicValue], localID: LocalID? = nil
    ) throws -> DynamicObject {
        try checkUsable()
        let table = try store.table(forModel: model)
        let given = try given(values, in: table)
        let row = RowEncoder()
        for (index, property) in table.definition.properties.enumerated() {
            if let value = given[index] {
                try append(value, of: property, to: row, in: table)
            } else if let appendDefault = property.appendDefault {
                appendDefault(row)
            } else if property.isToMany {
                row.append(json: .array([]))
            } else {
                throw TandemError(
                    .invalidValue, message: "A new object needs a value for the property.",
                    advice: "Give a \(property.kind).", store: store.path, model: table.definition.name,
                    property: property.name)
            }
        }
        let state = try insert(row, state: localID.map { ObjectState(localID: $0) } ?? ObjectState(), into: table)
        return try stored(state.localID, in: table)
    }

    /// Changes some properties of an object.
    ///
    /// - Parameters:
    ///   - model: The model's name in Swift.
    ///   - localID: The object's local ID.
    ///   - values: The new values by the properties' names. Other properties do not change.
    /// - Returns: The object in its stored state.
    /// - Throws: ``TandemError/Code/unknownModel``; ``TandemError/Code/invalidValue`` with the property if a name is
    ///   unknown or a value has another kind; ``TandemError/Code/notFound``, ``TandemError/Code/objectDeleted`` or
    ///   ``TandemError/Code/duplicateValue``.
    @discardableResult
    public func update(
        _ model: String, localID: LocalID, values: [String: DynamicValue]
    ) throws -> DynamicObject {
        try checkUsable()
        let table = try store.table(forModel: model)
        let given = try given(values, in: table)
        let row = RowEncoder()
        for (index, property) in table.definition.properties.enumerated() {
            if let value = given[index] {
                try append(value, of: property, to: row, in: table)
            } else {
                row.appendNull()
            }
        }
        guard let statement = try connection.tableStatements(table).find(localID) else {
            throw notFound(localID, in: table)
        }
        _ = try update(statement, with: row, in: table, only: Set(given.keys))
        return try stored(localID, in: table)
    }

    /// Deletes an object. See `delete(_:)`.
    ///
    /// - Parameters:
    ///   - model: The model's name in Swift.
    ///   - localID: The object's local ID.
    /// - Returns: `false` if the object does not exist, or is already deleted.
    /// - Throws: ``TandemError/Code/unknownModel``, ``TandemError/Code/deleteDenied``.
    @discardableResult
    public func delete(_ model: String, localID: LocalID) throws -> Bool {
        try checkUsable()
        return try delete(localID, in: try store.table(forModel: model))
    }

    /// Restores a deleted object. See `undelete(_:)`.
    ///
    /// - Parameters:
    ///   - model: The model's name in Swift.
    ///   - localID: The object's local ID.
    /// - Returns: The object in its stored state.
    /// - Throws: ``TandemError/Code/unknownModel``, and the errors of `undelete(_:)`.
    @discardableResult
    public func undelete(_ model: String, localID: LocalID) throws -> DynamicObject {
        try checkUsable()
        let table = try store.table(forModel: model)
        try undelete(localID, in: table)
        return try stored(localID, in: table)
    }

    private func stored(_ localID: LocalID, in table: TableLayout) throws -> DynamicObject {
        guard let statement = try connection.tableStatements(table).find(localID) else {
            throw notFound(localID, in: table)
        }
        defer { statement.reset() }
        return try DynamicObject.read(table.definition, row: statement.row(), path: store.path)
    }

    /// Returns values by the indices of their properties.
    private func given(_ values: [String: DynamicValue], in table: TableLayout) throws -> [Int: DynamicValue] {
        var given: [Int: DynamicValue] = [:]
        for (name, value) in values {
            guard let index = table.definition.index(ofProperty: name) else {
                let names = table.definition.properties.map(\.name).joined(separator: ", ")
                throw TandemError(
                    .invalidValue, message: "\(table.definition.name) has no property \"\(name)\".",
                    advice: "Its properties are: \(names).", store: store.path, model: table.definition.name)
            }
            given[index] = value
        }
        return given
    }

    private func append(
        _ value: DynamicValue, of property: PropertyDefinition, to row: RowEncoder, in table: TableLayout
    ) throws {
        guard property.append(value, to: row) else {
            throw TandemError(
                .invalidValue,
                message: value.isNull
                    ? "The property can't be nil."
                    : "\(String(value.description.prefix(100))) is \(value.kindName), and not a \(property.kind).",
                advice: "Give a \(property.kind).", store: store.path, model: table.definition.name,
                property: property.name)
        }
    }
}
