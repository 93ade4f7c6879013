// References in their stored form, for code that stores objects by their stored values.

extension StorageValue {
    /// Returns a list of references that names some IDs.
    public static func references(_ ids: [LocalID]) -> StorageValue { .text(LinkList.text(ids)) }

    /// The IDs in a list of references, in their order, or `nil` if the value is not such a list.
    public var references: [LocalID]? {
        guard case .text(let text) = self else { return nil }
        return try? LinkList.parse(text)
    }
}

extension PropertyDefinition {
    /// The table of the target objects of a reference or a list of references, or `nil` for other properties.
    public var targetTable: String? { target?().__definition.table }

    /// The stored form of the default, or `nil` if a new object must have a value.
    public var defaultValue: StorageValue? {
        guard let appendDefault else { return nil }
        let row = RowBuffer()
        appendDefault(row)
        return row.value(at: 0)
    }
}
