/// A list of references in a query: `$0.tags.any { $0.name == "new" }`, `$0.tags.count > 2`.
///
/// What can be asked of one is in ``LinkedObjects``.
public struct ReferencesProperty<Root: Model, Target: Model>: LinkProperty, LinkedObjects {
    public typealias Linked = Target

    public let __column: ColumnPath
    public let __propertyIndex: Int

    init(column: ColumnPath, index: Int) {
        __column = column
        __propertyIndex = index
    }

    /// Called by the code that `@Model` writes.
    public init(_ definition: ModelDefinition, _ index: Int) {
        self.init(column: ColumnPath(definition, index), index: index)
    }

    public var __link: LinkPath {
        LinkPath(
            steps: __column.steps,
            kind: .list(holder: __column.model, property: __propertyIndex, target: Target.__definition))
    }
}

/// The objects that refer to this one, in a query: `$0.cards.any { $0.points > 100 }`.
///
/// What can be asked of them is in ``LinkedObjects``.
public struct InverseProperty<Root: Model, Source: Model>: LinkedObjects {
    public typealias Linked = Source

    /// The references that lead from the query's model to the one whose inverse links these are.
    let path: [ReferenceStep]
    /// The index of the reference among the source model's properties.
    let property: Int

    init(path: [ReferenceStep], property: Int) {
        self.path = path
        self.property = property
    }

    /// Called by the code that `@Model` writes.
    public init<Link: LinkProperty>(through link: KeyPath<Source.Columns, Link>) where Link.Root == Source {
        self.init(path: [], property: Source.Columns()[keyPath: link].__propertyIndex)
    }

    public var __link: LinkPath {
        LinkPath(steps: path, kind: .inverse(source: Source.__definition, property: property))
    }
}

/// Several objects that one object is linked with: a list of references, or inverse links.
///
/// Only live objects are asked and counted. For example:
///
/// ```swift
/// store.objects(Person.self).where { $0.cards.any { $0.points > 100 } }
/// store.objects(Person.self).where { $0.cards.none { $0.shop.matches("маг") } && $0.cards.count >= 2 }
/// store.objects(Card.self).where { !$0.tags.isEmpty && $0.tags.contains(tag) }
/// ```
///
/// Asked through a reference that is nil, there are no objects: `any` is false, `all` and `none` are true, and the
/// count is 0.
///
/// - Complexity: Each object of the query costs a look-up in an index, and a step for each object linked with it, up to
///   the first that decides.
public protocol LinkedObjects<Root, Linked>: Sendable {
    associatedtype Root: Model
    associatedtype Linked: Model
    var __link: LinkPath { get }
}

extension LinkedObjects {
    /// Whether a predicate holds for one of the linked objects at least.
    public func any(_ predicate: (Linked.Columns) -> Predicate<Linked>) -> Predicate<Root> {
        Predicate(.quantified(__link, .any, predicate(Linked.Columns()).node))
    }

    /// Whether a property is true in one of the linked objects at least.
    public func any(_ property: (Linked.Columns) -> Property<Linked, Bool>) -> Predicate<Root> {
        any { property($0).asPredicate }
    }

    /// Whether a predicate holds for all linked objects; true if there are none.
    public func all(_ predicate: (Linked.Columns) -> Predicate<Linked>) -> Predicate<Root> {
        Predicate(.quantified(__link, .all, predicate(Linked.Columns()).node))
    }

    /// Whether a property is true in all linked objects; true if there are none.
    public func all(_ property: (Linked.Columns) -> Property<Linked, Bool>) -> Predicate<Root> {
        all { property($0).asPredicate }
    }

    /// Whether a predicate holds for none of the linked objects.
    public func none(_ predicate: (Linked.Columns) -> Predicate<Linked>) -> Predicate<Root> {
        Predicate(.quantified(__link, .none, predicate(Linked.Columns()).node))
    }

    /// Whether a property is true in none of the linked objects.
    public func none(_ property: (Linked.Columns) -> Property<Linked, Bool>) -> Predicate<Root> {
        none { property($0).asPredicate }
    }

    /// How many objects are linked: `$0.tags.count > 2`.
    ///
    /// An object that stands in a list twice counts twice; an object whose list names this one twice counts once.
    public var count: CountExpression<Root> { CountExpression { [link = __link] in .linkCount(link, $0, $1) } }

    /// Whether no object is linked.
    public var isEmpty: Predicate<Root> {
        Predicate(.quantified(__link, .none, .constant(true)))
    }

    /// Whether an object is among the linked ones.
    public func contains(_ object: Linked) -> Predicate<Root> {
        Predicate(.linkContains(__link, object.localID))
    }

    /// Whether the object that a reference names is among the linked ones.
    public func contains(_ reference: Reference<Linked>) -> Predicate<Root> {
        Predicate(.linkContains(__link, reference.localID))
    }
}
