extension LiveList {
    /// Returns a sentence that describes how the list follows changes: see ``QueryExplanation/live``.
    func explanation(in schema: Schema) -> String {
        func model(_ table: String) -> String { schema.table(named: table)?.definition.name ?? table }
        let upkeep =
            switch upkeep {
            case .rows: "each changed row is evaluated by itself"
            case .joined:
                "each changed row is evaluated by itself"
                    + query.steps.map { steps in
                        ", and those of \(model(steps[steps.count - 1].target)) through "
                            + steps.map { property($0, in: schema) }.joined(separator: ".")
                    }.joined()
            case .requery(let reason):
                "reloaded after each commit that changes "
                    + query.tables.map(model).sorted().joined(separator: " or ") + ": \(reason)"
            }
        guard let window else { return upkeep }
        let shown =
            window.offset == 0
            ? "the first \(window.limit)"
            : "the first \(window.offset + window.limit), of which \(window.limit) are shown,"
        let reserve = window.capacity(LiveTuning()) - window.offset - window.limit
        return "\(upkeep); \(shown) and a reserve of \(reserve) are kept"
    }

    /// Returns the name of a reference in its model.
    private func property(_ step: ReferenceStep, in schema: Schema) -> String {
        let properties = schema.table(named: step.table)?.definition.properties ?? []
        return properties.first { $0.column == step.column }?.name ?? step.column
    }
}

extension QueryDescription {
    /// Returns a sentence that describes how a live list of this query follows changes.
    func liveExplanation(in schema: Schema) -> String {
        LiveList(
            self, reading: RowReading(maker: .references(model, observed: nil), section: nil, order: RowOrder(order)),
            in: schema
        ).explanation(in: schema)
    }
}
