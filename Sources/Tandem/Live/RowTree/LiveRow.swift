/// A row of a live result, in the state of a commit. It is immutable: a changed row is replaced by a new object.
///
/// Rows are ordered by the bytes of their keys, then by the bytes of their local IDs. That is SQLite's order for the
/// query (see ``RowOrder``).
///
/// Proof of `@unchecked Sendable`: it and its subclasses have only constants.
class LiveRow: @unchecked Sendable {
    /// The rowid in the table. It is constant while the row exists, and may be reused after that.
    final let rowID: Int64
    /// The sort key: bytes that compare as the values do. It is empty for a query without an order.
    final let key: [UInt8]
    final let localID: LocalID

    init(rowID: Int64, key: [UInt8], localID: LocalID) {
        self.rowID = rowID
        self.key = key
        self.localID = localID
    }

    /// Returns whether two rows have the same position: the same object and the same key.
    final func hasKey(of other: LiveRow) -> Bool {
        self === other || (localID == other.localID && key == other.key)
    }
}

/// A row with its object.
class ObjectRow<M: Model>: LiveRow, @unchecked Sendable {
    final let object: M

    init(_ object: M, rowID: Int64, key: [UInt8]) {
        self.object = object
        super.init(rowID: rowID, key: key, localID: object.localID)
    }
}

/// A row without its object.
final class ReferenceRow: LiveRow, @unchecked Sendable {
    /// A hash that differs if an observed column differs.
    let digest: UInt64

    init(rowID: Int64, key: [UInt8], localID: LocalID, digest: UInt64) {
        self.digest = digest
        super.init(rowID: rowID, key: key, localID: localID)
    }
}

/// A row with its object, in a section. Its key begins with the bytes of the section.
final class SectionedRow<M: Model, Value: Sendable>: ObjectRow<M>, @unchecked Sendable {
    /// The common value of the objects in the section.
    let sectionValue: Value
    /// The number of the key's bytes that belong to the section.
    let sectionLength: Int

    init(_ object: M, in sectionValue: Value, length: Int, rowID: Int64, key: [UInt8]) {
        self.sectionValue = sectionValue
        sectionLength = length
        super.init(object, rowID: rowID, key: key)
    }
}
