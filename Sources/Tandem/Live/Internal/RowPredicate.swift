/// What a query asks of each row, so that a row can be asked without SQL.
///
/// It answers what the query's SQL would: ``RowTestCompiler`` keeps to it, and random tests hold the two against each
/// other. Where they could not agree, as where another table has a say, there is none.
struct RowPredicate: Sendable {
    private let test: RowTest
    /// The slots that it looks at.
    let slots: Set<Int>
    /// The properties' and the state's columns by whose change alone its answer can change. A folded text's twins
    /// change with the text.
    let columns: Set<String>

    /// Whether an object is one of a query's, its limit and offset aside; `nil` if its row alone can't tell. Then no
    /// slots are given out.
    init?(_ query: QueryDescription, slots: inout ColumnSlots) {
        guard query.base == nil, query.distinct.isEmpty else { return nil }
        var compiler = RowTestCompiler(slots)
        var tests: [RowTest] = []
        if query.life != .any {
            let slot = compiler.slot("deleted", of: "deleted")
            tests.append(.compares(slot, .equal, .integer(query.life == .deleted ? 1 : 0)))
        }
        guard let filters = compiler.tests(query.filters) else { return nil }
        self.init(.all(tests + filters), compiler, &slots)
    }

    /// Whether a predicate holds; `nil` if a row alone can't tell. Then no slots are given out.
    init?(_ node: PredicateNode, slots: inout ColumnSlots) {
        var compiler = RowTestCompiler(slots)
        guard let test = compiler.test(node) else { return nil }
        self.init(test, compiler, &slots)
    }

    private init(_ test: RowTest, _ compiler: RowTestCompiler, _ slots: inout ColumnSlots) {
        self.test = test
        self.slots = compiler.used
        columns = compiler.columns
        slots = compiler.slots
    }

    @inline(__always)
    func holds(_ row: some ColumnSource) -> Bool { test.holds(row) }
}
