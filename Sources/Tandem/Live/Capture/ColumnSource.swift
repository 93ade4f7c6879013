/// A row whose columns are accessed by slots. Slots are small numbers that reader and source share (see
/// ``ColumnSlots``).
protocol ColumnSource {
    func view(_ slot: Int) -> ColumnView
}

/// The row at which a statement is positioned. Slot 0 is a given column.
struct StatementColumns: ColumnSource {
    private let handle: OpaquePointer
    private let first: Int32

    init(_ statement: Statement, first: Int32 = 0) {
        handle = statement.handle
        self.first = first
    }

    @inline(__always)
    func view(_ slot: Int) -> ColumnView { ColumnView(first + Int32(truncatingIfNeeded: slot), of: handle) }
}

/// The watched columns of a table, each with its own slot. Slots are assigned once and never change.
struct ColumnSlots: Sendable {
    private(set) var columns: [String] = []
    private var slots: [String: Int] = [:]

    /// Returns the slot of a column, by its name in the table. A new column gets a new slot.
    mutating func slot(of column: String) -> Int {
        if let slot = slots[column] { return slot }
        slots[column] = columns.count
        columns.append(column)
        return columns.count - 1
    }
}
