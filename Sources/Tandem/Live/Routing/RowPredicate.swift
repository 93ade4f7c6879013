/// A query's condition on each row, evaluated without SQL.
///
/// It gives the same result as the query's SQL. ``RowTestCompiler`` ensures that, and random tests compare both. If the
/// results could differ, for example because another table is involved, the predicate can't be created.
struct RowPredicate: Sendable {
    private let test: RowTest
    /// The slots that it reads.
    let slots: Set<Int>
    /// The columns of properties and state that determine its result. The folded keys of a text change with the text.
    let columns: Set<String>

    /// Creates the condition for an object to be in a query, ignoring limit and offset. Returns `nil` if the row alone
    /// does not determine it. No slots are then assigned.
    init?(_ query: QueryDescription, slots: inout ColumnSlots) {
        guard query.base == nil, query.distinct.isEmpty else { return nil }
        var compiler = RowTestCompiler(slots)
        var tests: [RowTest] = []
        if query.life != .any {
            let slot = compiler.slot("deleted", of: "deleted")
            tests.append(.compares(slot, by: .equal, to: .integer(query.life == .deleted ? 1 : 0)))
        }
        guard let filters = compiler.tests(query.filters) else { return nil }
        test = .all(tests + filters)
        self.slots = compiler.used
        columns = compiler.columns
        slots = compiler.slots
    }

    @inline(__always)
    func holds(_ row: some ColumnSource) -> Bool { test.holds(row) }
}
