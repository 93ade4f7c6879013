extension Model {
    /// A property's value among values in their stored form, as a sync hands over what it has given up.
    ///
    /// For example:
    ///
    /// ```swift
    /// let lost = try await sync.takeServers(operation.version)
    /// if let points = try Card.value(of: \.points, in: lost) { print("not sent: \(points) points") }
    /// ```
    ///
    /// - Parameters:
    ///   - property: The property. One that is reached through a reference is in no object's own values.
    ///   - values: By the properties' names in Swift.
    /// - Returns: `nil` if the values don't name the property.
    /// - Throws: ``TandemError/Code/corrupt`` if the value is none of the property's type.
    public static func value<E: PropertyExpression>(
        of property: (Columns) -> E, in values: [String: StorageValue]
    ) throws -> E.Value? where E.Root == Self {
        let expression = property(Columns())
        guard expression.__column.steps.isEmpty, let definition = expression.__column.definition,
            let stored = values[definition.name]
        else { return nil }
        return try ModelValues.value(of: expression, stored, of: definition)
    }

    /// A property's value in a row of ``Store/sql(_:_:)``, by the column's name.
    ///
    /// For example:
    ///
    /// ```swift
    /// for row in try store.sql("SELECT shop, points FROM Card WHERE points > ?", [100]) {
    ///     if let points = try Card.value(of: \.points, in: row) { print(points) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - property: The property. A property that is reached through a reference is in no row of the model's table.
    ///   - row: A row whose columns have the names of the table's.
    /// - Returns: `nil` if the row has no such column.
    /// - Throws: ``TandemError/Code/corrupt`` if the value is none of the property's type.
    public static func value<E: PropertyExpression>(
        of property: (Columns) -> E, in row: SQLRow
    ) throws -> E.Value? where E.Root == Self {
        let expression = property(Columns())
        guard expression.__column.steps.isEmpty, let definition = expression.__column.definition,
            let stored = row[definition.column]
        else { return nil }
        return try ModelValues.value(of: expression, stored, of: definition)
    }
}
