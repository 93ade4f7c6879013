import Tandem

extension StorageValue {
    /// A list of references, by the IDs that it names.
    package static func references(_ ids: [LocalID]) -> StorageValue { .text(LinkList.text(ids)) }

    /// The IDs that a list of references names, in their order; `nil` if it is none.
    package var references: [LocalID]? {
        guard case .text(let text) = self else { return nil }
        return try? LinkList.parse(text)
    }
}

extension PropertyDefinition {
    /// The stored form of the default; `nil` if a new object must be given a value.
    var defaultValue: StorageValue? {
        guard let appendDefault else { return nil }
        let row = RowEncoder()
        appendDefault(row)
        return row.value(at: 0)
    }
}
