extension Model {
    /// Returns a property's value from values in their stored form. Sync returns discarded values in this form.
    ///
    /// For example:
    ///
    /// ```swift
    /// let lost = try await sync.takeServers(operation.version)
    /// if let points = try Card.value(of: \.points, in: lost) { print("not sent: \(points) points") }
    /// ```
    ///
    /// - Parameters:
    ///   - property: The property. An object's own values contain no property that is reached through a reference.
    ///   - values: The values by the properties' names in Swift.
    /// - Returns: `nil` if the values don't contain the property.
    /// - Throws: ``TandemError/Code/corrupt`` if the value does not have the property's type.
    public static func value<E: PropertyExpression>(
        of property: (Columns) -> E, in values: [String: StorageValue]
    ) throws -> E.Value? where E.Root == Self {
        let expression = property(Columns())
        guard expression.__column.steps.isEmpty, let definition = expression.__column.definition,
            let stored = values[definition.name]
        else { return nil }
        return try ModelValues.value(of: expression, stored: stored, of: definition)
    }

    /// Returns a property's value from a row of ``Store/sql(_:binding:)``, by the column's name.
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
    ///   - property: The property. A row of the model's table contains no property that is reached through a reference.
    ///   - row: A row whose columns have the names of the table's.
    /// - Returns: `nil` if the row does not have the column.
    /// - Throws: ``TandemError/Code/corrupt`` if the value does not have the property's type.
    public static func value<E: PropertyExpression>(
        of property: (Columns) -> E, in row: SQLRow
    ) throws -> E.Value? where E.Root == Self {
        let expression = property(Columns())
        guard expression.__column.steps.isEmpty, let definition = expression.__column.definition,
            let stored = row[definition.column]
        else { return nil }
        return try ModelValues.value(of: expression, stored: stored, of: definition)
    }
}
