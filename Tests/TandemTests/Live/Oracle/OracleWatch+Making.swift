import Foundation

@testable import Tandem

/// The kinds of publishers.
enum PublisherKind: String, CaseIterable {
    case collection, changeset, references, referenceChangeset, count, aggregate, sections, sectionedChangeset, object
    case combined
}

/// Makes the watches of a history.
struct WatchMaker {
    let number: Int
    let delivery: Delivery
    let asking: Asking
    let store: Store
    /// Whether a folded text is sectioned by its first letter.
    let dividesByLetter: Bool
    /// Whether all queries filter or sort by lists of references or inverse links.
    let followsLinks: Bool

    /// A publisher with its expected output, before subscribing.
    struct Plan<Output: Sendable> {
        var text: String
        var publisher: LivePublisher<Output>
        var fresh: (Store) throws -> Shown
        var read: OracleWatch<Output>.Read
        var canApplySilently = false
        var showsIdentity = false
        var isExtreme = false
    }

    func watch<Output: Sendable>(_ plan: Plan<Output>) -> AnyOracleWatch {
        let watch = OracleWatch(
            number, plan.text, delivery, asking, store, plan.publisher, fresh: plan.fresh, read: plan.read)
        watch.canApplySilently = plan.canApplySilently
        watch.showsIdentity = plan.showsIdentity
        watch.isExtreme = plan.isExtreme
        return watch
    }

    private func mask<M: Model>(_ results: Results<M>) -> ColumnMask {
        results.query.observedMask(in: store.schema) | 1 << 1
    }

    private func pictures<M: Model>(_ results: Results<M>) -> (Store) throws -> Shown {
        let mask = mask(results)
        let query = results.query
        return { .rows(try Results<M>(store: $0, query: query).all().map { Picture($0, mask) }) }
    }

    private func isFollowed<M: Model>(_ results: Results<M>) -> Bool {
        guard results.query.limit == nil else { return false }
        if case .requery = LiveList.Upkeep(results.query) { return false }
        return true
    }

    func collection<M: Model>(_ results: Results<M>) -> Plan<LiveCollection<M>> {
        let mask = mask(results)
        // A row can change only its key or number. A collection can't show that.
        return Plan(
            text: "collection of \(results.text)", publisher: results.collectionPublisher, fresh: pictures(results),
            read: { output, _, _ in (.rows(output.map { Picture($0, mask) }), []) },
            canApplySilently: isFollowed(results),
            showsIdentity: results.query.observed != nil || !results.query.dependencies.isEmpty)
    }

    func changeset<M: Model>(_ results: Results<M>) -> Plan<ChangeSet<M>> {
        let mask = mask(results)
        var check = ChangeSetCheck()
        return Plan(
            text: "changeset of \(results.text)", publisher: results.changesetPublisher, fresh: pictures(results),
            read: { output, lastShown, isOrdered in
                let problems = check.problems(output, base: lastShown?.rows, isOrdered: isOrdered) { Picture($0, mask) }
                return (.rows(output.results.map { Picture($0, mask) }), problems)
            }, canApplySilently: isFollowed(results), showsIdentity: true)
    }

    private func ids<M: Model>(_ results: Results<M>) -> (Store) throws -> Shown {
        let query = results.query
        return { .ids(try Results<M>(store: $0, query: query).localIDs()) }
    }

    func references<M: Model>(_ results: Results<M>) -> Plan<LiveCollection<Reference<M>>> {
        Plan(
            text: "references of \(results.text)", publisher: results.referencesPublisher, fresh: ids(results),
            read: { output, _, _ in (.ids(output.map(\.localID)), []) }, canApplySilently: isFollowed(results),
            showsIdentity: true)
    }

    func referenceChangeset<M: Model>(_ results: Results<M>) -> Plan<ChangeSet<Reference<M>>> {
        var check = ChangeSetCheck()
        check.mayReportUnchanged = true
        return Plan(
            text: "referenceChangeset of \(results.text)", publisher: results.referenceChangesetPublisher,
            fresh: ids(results),
            read: { output, lastShown, isOrdered in
                let problems = check.problems(output, base: lastShown?.rows, isOrdered: isOrdered) {
                    Picture(id: $0.localID, values: [])
                }
                return (.ids(output.results.map(\.localID)), problems)
            }, canApplySilently: isFollowed(results), showsIdentity: true)
    }

    func count<M: Model>(_ results: Results<M>) -> Plan<Int> {
        let query = results.query
        return Plan(
            text: "count of \(results.text)", publisher: results.countPublisher,
            fresh: { .scalar(try Results<M>(store: $0, query: query).count()) },
            read: { output, _, _ in (.scalar(output), []) })
    }

    func aggregate<M: Model, Value: Sendable>(
        _ results: Results<M>, _ aggregate: Aggregate<M, Value>, _ compute: @escaping (Results<M>) throws -> Value
    ) -> Plan<Value> {
        let query = results.query
        return Plan(
            text: "aggregate \(aggregate.node.text) of \(results.text)", publisher: results.publisher(of: aggregate),
            fresh: { .scalar(try compute(Results<M>(store: $0, query: query))) },
            read: { output, _, _ in (.scalar(output), []) }, isExtreme: aggregate.node.isExtreme)
    }

    func object<M: Model>(_ reference: Reference<M>) -> Plan<M?> {
        func shown(_ object: M?) -> Shown { .rows(object.map { [Picture($0, .max)] } ?? []) }
        return Plan(
            text: "object \(reference.localID)", publisher: store.publisher(for: reference),
            fresh: { store in shown(try store.objects(M.self).where { $0.localID == reference.localID }.first()) },
            read: { output, _, _ in (shown(output), []) }, canApplySilently: true)
    }

    // MARK: Sections

    /// Returns the result in sections, as `sectioned(by:)` reads them.
    private func sectioned<Key, M: Model>(
        _ results: Results<M>, _ read: @escaping (Results<M>) throws -> [ResultsSection<Key, M>]
    ) -> (Store) throws -> Shown {
        let mask = mask(results)
        let query = results.query
        return { store in
            try store.read { tx in
                let sections = try read(Results<M>(store: tx.store, query: query))
                return Shown.sections(
                    try sections.map { section in
                        Shown.Section(
                            key: Self.keyText(section.key), rows: try section.results.all().map { Picture($0, mask) })
                    })
            }
        }
    }

    private static func keyText(_ value: Any) -> String { "\(Shown.scalar(value))" }

    private static func shown<Key, M: Model>(_ sections: LiveSections<Key, M>, _ mask: ColumnMask) -> Shown {
        .sections(
            sections.map { Shown.Section(key: keyText($0.key), rows: $0.map { Picture($0, mask) }) })
    }

    /// - Parameter read: Reads the same sections by `sectioned(by:)`.
    func sections<Key: Sendable, M: Model>(
        _ results: Results<M>, by name: String, _ publisher: LivePublisher<LiveSections<Key, M>>,
        _ read: @escaping (Results<M>) throws -> [ResultsSection<Key, M>]
    ) -> Plan<LiveSections<Key, M>> {
        let mask = mask(results)
        return Plan(
            text: "sections by \(name) of \(results.text)", publisher: publisher, fresh: sectioned(results, read),
            read: { output, _, _ in (Self.shown(output, mask), []) }, canApplySilently: isFollowed(results),
            showsIdentity: true)
    }

    /// - Parameter read: Reads the same sections by `sectioned(by:)`.
    func sectionedChangeset<Key: Sendable, M: Model>(
        _ results: Results<M>, by name: String, _ publisher: LivePublisher<SectionedChangeSet<Key, M>>,
        _ read: @escaping (Results<M>) throws -> [ResultsSection<Key, M>]
    ) -> Plan<SectionedChangeSet<Key, M>> {
        let mask = mask(results)
        var check = ChangeSetCheck()
        return Plan(
            text: "sectionedChangeset by \(name) of \(results.text)", publisher: publisher,
            fresh: sectioned(results, read),
            read: { output, lastShown, isOrdered in
                let problems =
                    check.problems(output.changes, base: lastShown?.rows, isOrdered: isOrdered) { Picture($0, mask) }
                    + ChangeSetCheck.problems(output, { Picture($0, mask) }, { Self.keyText($0) })
                return (Self.shown(output.sections, mask), problems)
            }, canApplySilently: isFollowed(results), showsIdentity: true)
    }

    // MARK: Combined

    func combined<A, B, C>(_ a: Plan<A>, _ b: Plan<B>, _ c: Plan<C>) -> Plan<(A, B, C)> {
        Plan(
            text: "combined \(a.text), \(b.text), \(c.text)",
            publisher: store.combined(a.publisher, b.publisher, c.publisher),
            fresh: { .parts([try a.fresh($0), try b.fresh($0), try c.fresh($0)]) },
            read: { output, lastShown, _ in
                let one = a.read(output.0, nil, false)
                let two = b.read(output.1, nil, false)
                let three = c.read(output.2, nil, false)
                return (.parts([one.0, two.0, three.0]), [])
            }, showsIdentity: a.showsIdentity || b.showsIdentity || c.showsIdentity)
    }
}

extension Results {
    /// The query as text for messages.
    var text: String {
        let observed = query.observed.map { " observing \($0.map(\.name))" } ?? ""
        guard let explanation = try? explain() else { return "?" }
        let sql = explanation.sql.components(separatedBy: " FROM ").dropFirst().joined(separator: " FROM ")
        return "<\(sql) \(explanation.values)\(observed)>"
    }
}

extension AggregateNode {
    var isExtreme: Bool {
        switch self {
        case .minimum, .maximum: true
        default: false
        }
    }

    var text: String {
        switch self {
        case .count: "count"
        case .sum(let path, let kind): "sum \(kind) \(path.name)"
        case .average(let path, let kind): "average \(kind) \(path.name)"
        case .minimum(let path): "minimum \(path.name)"
        case .maximum(let path): "maximum \(path.name)"
        }
    }
}
