/// A collection of the objects that a query's result depends on, besides those of its own model.
///
/// They are the targets of the model's references, the objects of lists, and the objects of inverse links. For each,
/// the columns that the query uses are known.
struct QueryDependencies {
    /// The objects of a table at the end of some hops from the query's own objects.
    struct Dependency {
        let hops: [LinkHop]
        /// The columns that the query uses, without the key of the last hop.
        let columns: Set<String>

        var table: String { hops[hops.count - 1].table }
    }

    private let ownTable: String
    /// The used columns of the objects at the end of each path. The empty path leads to the query's own objects.
    private var columns: [[LinkHop]: Set<String>] = [:]

    init(_ query: QueryDescription) {
        ownTable = query.model.table
        for path in query.distinct { add(path, from: []) }
        for key in query.order {
            switch key {
            case .column(let path, _, _): add(path, from: [])
            case .matchingFirst(let node): add(node, from: [])
            }
        }
        for filter in query.filters { add(filter, from: []) }
    }

    /// The dependencies. Each path occurs once, shorter paths first.
    var all: [Dependency] {
        columns.filter { !$0.key.isEmpty }.map { Dependency(hops: $0.key, columns: $0.value) }
            .sorted { ($0.hops.count, "\($0.hops)") < ($1.hops.count, "\($1.hops)") }
    }

    private mutating func add(_ node: PredicateNode, from base: [LinkHop]) {
        switch node {
        case .constant: break
        case .not(let node): add(node, from: base)
        case .all(let nodes), .any(let nodes): for node in nodes { add(node, from: base) }
        case .comparison(let path, _, .column(let other)):
            add(path, from: base)
            add(other, from: base)
        case .isTrue(let path), .comparison(let path, _, .value), .among(let path, _), .identical(let path, _),
            .ordered(let path, _, _), .text(let path, _, _), .inKeyRanges(let path, _), .isFolded(let path, _),
            .hasFirstLetter(let path, _, _), .matches(let path, _), .elementCount(let path, _, _),
            .elementsContain(let path, _):
            add(path, from: base)
        case .quantified(let link, _, let node): add(node, from: follow(link, from: base))
        case .linkCount(let link, _, _), .linkContains(let link, _): _ = follow(link, from: base)
        }
    }

    private mutating func add(_ path: ColumnPath, from base: [LinkHop]) {
        columns[follow(path.steps, from: base), default: []].insert(path.sourceName)
    }

    /// Adds the objects that references lead to. Returns the hops to them.
    private mutating func follow(_ steps: [ReferenceStep], from base: [LinkHop]) -> [LinkHop] {
        var hops = base
        for step in steps {
            columns[hops, default: []].insert(step.column)
            append(LinkHop(link: step, links: nil, isInverse: false), to: &hops)
        }
        return hops
    }

    /// Adds the objects of a link. Returns the hops to them.
    private mutating func follow(_ link: LinkPath, from base: [LinkHop]) -> [LinkHop] {
        var hops = follow(link.steps, from: base)
        switch link.kind {
        case .list(let holder, let property, let target):
            let list = holder.properties[property]
            columns[hops, default: []].insert(list.column)
            let step = ReferenceStep(table: holder.table, column: list.column, target: target.table)
            append(LinkHop(link: step, links: holder.linkTable(list), isInverse: false), to: &hops)
        case .inverse(let source, let property):
            let reference = source.properties[property]
            let step = ReferenceStep(
                table: source.table, column: reference.column, target: hops.last?.table ?? ownTable)
            let links = reference.isToMany ? source.linkTable(reference) : nil
            append(LinkHop(link: step, links: links, isInverse: true), to: &hops)
        }
        return hops
    }

    /// Only live objects are linked.
    private mutating func append(_ hop: LinkHop, to hops: inout [LinkHop]) {
        hops.append(hop)
        columns[hops, default: []].insert("deleted")
    }
}
