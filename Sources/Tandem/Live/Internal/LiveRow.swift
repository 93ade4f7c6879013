/// One row of a live result, as it was at one commit. It never changes: a row that does is replaced by a new one.
///
/// Rows are ordered by their keys' bytes, then by their local IDs' bytes, which is the order that SQLite answers the
/// query in (see ``RowOrder``).
///
/// `@unchecked`: it and its subclasses have nothing but constants.
class LiveRow: @unchecked Sendable {
    /// The row's number in its table: the same for as long as the row is there, and used again afterwards.
    final let rowID: Int64
    /// What the query sorts by, in bytes that compare as the values do. Empty for a query without an order.
    final let key: [UInt8]
    final let localID: LocalID

    init(rowID: Int64, key: [UInt8], localID: LocalID) {
        self.rowID = rowID
        self.key = key
        self.localID = localID
    }

    /// Whether two rows stand at the same place of the order: they are the same object with the same key.
    final func hasPlace(of other: LiveRow) -> Bool {
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
    /// A number that differs where an observed column does.
    let digest: UInt64

    init(rowID: Int64, key: [UInt8], localID: LocalID, digest: UInt64) {
        self.digest = digest
        super.init(rowID: rowID, key: key, localID: localID)
    }
}

/// A row with its object, in a section: the first bytes of its key are the section's.
final class SectionedRow<M: Model, Value: Sendable>: ObjectRow<M>, @unchecked Sendable {
    /// The value that the objects of the section have in common.
    let sectionValue: Value
    /// How many bytes of the row's key are the section's.
    let sectionLength: Int

    init(_ object: M, in sectionValue: Value, length: Int, rowID: Int64, key: [UInt8]) {
        self.sectionValue = sectionValue
        sectionLength = length
        super.init(object, rowID: rowID, key: key)
    }
}
