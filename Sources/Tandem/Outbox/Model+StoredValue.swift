extension Model {
    /// A property's value among values in their stored form, as a sync hands over what it has given up.
    ///
    /// For example:
    ///
    /// ```swift
    /// let lost = try await sync.takeServers(operation.id)
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
}
