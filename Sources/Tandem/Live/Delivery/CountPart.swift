/// A live count.
final class CountPart: LivePart {
    private let query: QueryDescription
    private var count = 0
    private var delivered: Int?

    init(_ query: QueryDescription) {
        self.query = query.nestedIfCut
    }

    func watch(in schema: Schema) throws -> PartWatch {
        guard let table = schema.table(named: query.model.table) else { throw Schema.unknown(query.model.name) }
        var slots = ColumnSlots()
        guard RowPredicate(query, slots: &slots) != nil else {
            return .requery(query.tables.compactMap { schema.table(named: $0) })
        }
        return .rows(of: table, query: query) { _, _ in CountWatcher() }
    }

    func load(_ connection: Connection) throws {
        var compiler = SQLCompiler()
        let sql = compiler.select(query, ordered: false) { $0.aggregate(.count, in: $1) }
        guard case .integer(let value)? = try connection.value(sql.text, binding: sql.values) else { return }
        count = Int(value)
    }

    func apply(_ changes: [PartChange]) -> Bool {
        for case .count(let change) in changes { count += change }
        return true
    }

    var isDirty: Bool { delivered != count }

    func applySilently(wasDirty: Bool) {
        guard delivered != nil else { return }
        delivered = wasDirty ? nil : count
    }

    func resetBaseline() { delivered = nil }

    func consumeCount() -> Int {
        delivered = count
        return count
    }
}
