/// A row of a live result, in the state of a commit. It is immutable: a changed row is another value.
///
/// Rows are ordered by the bytes of their keys, then by the bytes of their local IDs. That is SQLite's order for the
/// query (see ``RowOrder``).
///
/// The value refers to the leaf of a ``RowTree`` that contains the row, or to a leaf of its own. Key, local ID and
/// object are decoded on each access.
///
/// Proof of `@unchecked Sendable`: a leaf does not change after it was made.
struct LiveRow: @unchecked Sendable {
    let leaf: RowNode
    let index: Int

    /// Refers to a row of a leaf.
    init(_ leaf: RowNode, index: Int) {
        self.leaf = leaf
        self.index = index
    }

    /// Makes a leaf of its own for a row.
    private init(_ view: RowView) {
        leaf = withUnsafePointer(to: view) {
            RowNode.leaf(UnsafeBufferPointer(start: $0, count: 1), id: RowIndex.noLeaf)
        }
        index = 0
    }

    /// Makes a leaf of its own for the first row of a buffer.
    init(_ buffer: RowBuffer) {
        self = withExtendedLifetime(buffer) { LiveRow(buffer[0]) }
    }

    init(rowID: Int64, key: [UInt8], localID: LocalID, payload: [UInt8] = []) {
        let buffer = RowBuffer()
        buffer.append(rowID: rowID, key: key, localID: localID, payload: payload)
        self.init(buffer)
    }

    /// A view of the row. The caller must keep the row alive while it uses the view.
    @inline(__always)
    var view: RowView { leaf.row(index) }

    /// Calls a function with a view of the row, which is valid inside the function.
    @inline(__always)
    func withView<T>(_ body: (RowView) throws -> T) rethrows -> T {
        try withExtendedLifetime(leaf) { try body(view) }
    }

    /// The rowid in the table. It is constant while the row exists, and may be reused after that.
    var rowID: Int64 { withView(\.rowID) }

    /// The sort key: bytes that compare as the values do. It is empty for a query without an order.
    var key: [UInt8] { withView(\.key) }

    var localID: LocalID { withView(\.localID) }

    /// Returns whether two rows have the same position: the same object and the same key.
    func hasKey(of other: LiveRow) -> Bool {
        isSameReference(as: other) || withView { row in other.withView { row.order($0) == 0 } }
    }

    /// Returns whether two rows are of the same object.
    func hasLocalID(of other: LiveRow) -> Bool {
        withView { row in other.withView { row.hasID(of: $0) } }
    }

    /// Returns whether two rows are equal in all bytes.
    func isIdentical(to other: LiveRow) -> Bool {
        isSameReference(as: other) || withView { row in other.withView { row.isIdentical(to: $0) } }
    }

    private func isSameReference(as other: LiveRow) -> Bool { leaf === other.leaf && index == other.index }
}
