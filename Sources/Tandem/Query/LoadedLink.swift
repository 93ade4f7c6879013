/// A link that ``Results/with(_:)`` loads together with the objects: a reference, a list of references, or inverse
/// links. Do not conform to it.
public protocol LoadedLink: Sendable {
    /// The type of the loaded value: an optional object, or an array of objects.
    associatedtype Loaded
    /// The functions that load the link.
    var __loading: LinkLoading<Loaded> { get }
}

/// The functions that load a link. The links themselves create it.
public struct LinkLoading<Loaded> {
    /// A link's value in a row of the query.
    enum Entry {
        case loaded(Loaded)
        /// The local IDs that the row names or, for inverse links, the target's local ID.
        case named([LocalID])
    }

    /// Compiles the columns that the query selects for the link.
    let columns: (inout SQLCompiler, SQLCompiler.Scope) -> SQL
    /// Reads these columns.
    let read: (inout JoinedRow) throws -> Entry
    /// Loads the objects that a batch of rows names, by local ID.
    let load: (ReadTransaction, Set<LocalID>) throws -> ([LocalID]) -> Loaded
}

extension ReferenceProperty: LoadedLink {
    /// The type of the loaded value.
    public typealias Loaded = Target?

    /// The functions that load the link.
    public var __loading: LinkLoading<Target?> {
        let steps = __column.steps(to: Target.__definition.table)
        return LinkLoading { compiler, scope in
            compiler.objectColumns(Target.__definition, alias: compiler.alias(steps, in: scope))
        } read: { row in
            .loaded(try row.nextIfAny(Target.self))
        } load: { _, _ in
            { _ in nil }
        }
    }
}

extension ReferencesProperty: LoadedLink {
    /// The type of the loaded value.
    public typealias Loaded = [Target]

    /// The functions that load the link.
    public var __loading: LinkLoading<[Target]> {
        LinkLoading { compiler, scope in
            compiler.column(__column, in: scope)
        } read: { row in
            .named(try row.nextValue { try $0.isNull($1) ? [] : LinkList.parse($0.text($1)) })
        } load: { transaction, ids in
            let found = try ids.compactMap {
                try transaction.pointRead(Target.self, by: .localID, id: $0.rawValue)
            }
            let objects = Dictionary(uniqueKeysWithValues: found.map { ($0.localID, $0) })
            return { $0.compactMap { objects[$0] } }
        }
    }
}

extension InverseProperty: LoadedLink {
    /// The type of the loaded value.
    public typealias Loaded = [Source]

    /// The functions that load the link.
    public var __loading: LinkLoading<[Source]> {
        LinkLoading { compiler, scope in
            "\(alias: compiler.alias(path, in: scope)).\"localID\""
        } read: { row in
            .named(try row.nextValue { try $0.isNull($1) ? [] : [LocalID($0.text($1))] })
        } load: { transaction, ids in
            let sources = try sources(of: ids, in: transaction)
            return { $0.flatMap { sources[$0] ?? [] } }
        }
    }

    /// Returns the referring objects by the local ID of the object that they refer to.
    private func sources(of ids: Set<LocalID>, in transaction: ReadTransaction) throws -> [LocalID: [Source]] {
        let definition = Source.__definition
        guard !definition.properties[property].isToMany else {
            return try Dictionary(
                uniqueKeysWithValues: ids.map {
                    ($0, try transaction.store.objects(InverseLinks<Source>(target: $0, property: property)).all())
                })
        }
        let refers = PredicateNode.among(
            ColumnPath(definition, property: property), values: ids.map { .text($0.rawValue) })
        let results = Results<Source>(store: transaction.store, query: QueryDescription(definition).filtered(refers))
        var sources: [LocalID: [Source]] = [:]
        let row = RowEncoder()
        try results.forEach { source in
            row.removeAll()
            source.__append(to: row)
            guard let target = row.text(property) else { return }
            sources[LocalID(target), default: []].append(source)
        }
        return sources
    }
}

/// A link of a batch of rows.
final class LinkColumn<Loaded> {
    private let loading: LinkLoading<Loaded>
    private var entries: [LinkLoading<Loaded>.Entry] = []

    init(_ loading: LinkLoading<Loaded>) {
        self.loading = loading
    }

    func read(_ row: inout JoinedRow) throws {
        entries.append(try loading.read(&row))
    }

    private var values: [Loaded] = []

    /// Returns the loaded value for an object of the last finished batch.
    func value(at index: Int) -> Loaded { values[index] }

    /// Ends a batch.
    func finish(_ transaction: ReadTransaction) throws {
        var ids: Set<LocalID> = []
        for case .named(let named) in entries { ids.formUnion(named) }
        let loaded = try loading.load(transaction, ids)
        values = entries.map { entry in
            switch entry {
            case .loaded(let value): value
            case .named(let named): loaded(named)
            }
        }
        entries.removeAll(keepingCapacity: true)
    }
}
