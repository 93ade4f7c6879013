extension LiveList {
    /// Returns a sentence that describes how the list follows changes: see ``QueryExplanation/live``.
    func explanation(in schema: Schema) -> String {
        func model(_ table: String) -> String { schema.table(named: table)?.definition.name ?? table }
        let upkeep =
            switch upkeep {
            case .rows: "each changed row is evaluated by itself"
            case .joined:
                "each changed row is evaluated by itself"
                    + query.dependencies.map { dependency in
                        ", and those of \(model(dependency.table)) through \(path(dependency.hops, in: schema))"
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

    /// Returns the properties that hops follow: `owner.boss`, or `Star.card` if the hop leads from cards to their
    /// stars. A path after such a hop names its model: `Star.card and Star.person`.
    private func path(_ hops: [LinkHop], in schema: Schema) -> String {
        var text = ""
        var isOpen = false
        for hop in hops {
            let definition = schema.table(named: hop.link.table)?.definition
            let property = definition?.properties.first { $0.column == hop.link.column }?.name ?? hop.link.column
            if isOpen, !hop.isInverse {
                text += ".\(property)"
                continue
            }
            let isNamed = hop.isInverse || !text.isEmpty
            text += (text.isEmpty ? "" : " and ") + (isNamed ? "\(definition?.name ?? hop.link.table)." : "") + property
            isOpen = !hop.isInverse
        }
        return text
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
