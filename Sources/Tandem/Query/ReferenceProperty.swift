/// A reference in a query.
///
/// Its target's properties are asked through it. Where there is no target they are nil:
///
/// ```swift
/// store.objects(Card.self).where { $0.owner.name == "Ада" }     // cards without an owner: false
/// store.objects(Card.self).where { $0.owner.city.name != "Омск" } // cards without an owner: true
/// store.objects(Card.self).where { $0.owner == person || $0.owner == nil }
/// ```
@dynamicMemberLookup
public struct ReferenceProperty<Root: Model, Target: Model>: LinkProperty, PropertyExpression {
    public typealias Value = Reference<Target>?

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

    public var __encode: @Sendable (Reference<Target>?) -> StorageValue {
        { $0.map { .text($0.localID.rawValue) } ?? .null }
    }

    public var __read: @Sendable (RowReader, Int32) throws -> Reference<Target>? {
        { $0.isNull($1) ? nil : try Reference<Target>.__read($0, $1) }
    }
}

/// Through the reference to what lies behind it.
extension ReferenceProperty {
    /// A property of the object referred to; nil where there is none.
    public subscript<Value>(
        dynamicMember property: KeyPath<Target.Columns, Property<Target, Value>>
    ) -> Property<Root, Value?> {
        let inner = Target.Columns()[keyPath: property]
        return Property(
            column: inner.__column.reached(through: __column),
            encode: { [encode = inner.__encode] in $0.map { encode($0) } ?? .null },
            read: { [read = inner.__read] in $0.isNull($1) ? nil : try read($0, $1) })
    }

    /// A property that is optional itself: nil where it is nil, and where there is no object.
    public subscript<Wrapped>(
        dynamicMember property: KeyPath<Target.Columns, Property<Target, Wrapped?>>
    ) -> Property<Root, Wrapped?> {
        let inner = Target.Columns()[keyPath: property]
        return Property(
            column: inner.__column.reached(through: __column), encode: inner.__encode, read: inner.__read)
    }

    /// A folded property of the object referred to; nil where there is none.
    public subscript<Value>(
        dynamicMember property: KeyPath<Target.Columns, FoldedProperty<Target, Value>>
    ) -> FoldedProperty<Root, Value?> {
        let inner = Target.Columns()[keyPath: property]
        return FoldedProperty(
            column: inner.__column.reached(through: __column),
            encode: { [encode = inner.__encode] in $0.map { encode($0) } ?? .null },
            read: { [read = inner.__read] in $0.isNull($1) ? nil : try read($0, $1) })
    }

    /// A folded property that is optional itself: nil where it is nil, and where there is no object.
    public subscript<Wrapped>(
        dynamicMember property: KeyPath<Target.Columns, FoldedProperty<Target, Wrapped?>>
    ) -> FoldedProperty<Root, Wrapped?> {
        let inner = Target.Columns()[keyPath: property]
        return FoldedProperty(
            column: inner.__column.reached(through: __column), encode: inner.__encode, read: inner.__read)
    }

    /// A text of the object referred to, sorted without regard to case; nil where there is none.
    public subscript<Value>(
        dynamicMember property: KeyPath<Target.Columns, SortedTextProperty<Target, Value>>
    ) -> SortedTextProperty<Root, Value?> {
        let inner = Target.Columns()[keyPath: property]
        return SortedTextProperty(
            column: inner.__column.reached(through: __column),
            encode: { [encode = inner.__encode] in $0.map { encode($0) } ?? .null },
            read: { [read = inner.__read] in $0.isNull($1) ? nil : try read($0, $1) })
    }

    /// An optional text of the object referred to, sorted without regard to case; nil where it is nil, and where there
    /// is no object.
    public subscript<Wrapped>(
        dynamicMember property: KeyPath<Target.Columns, SortedTextProperty<Target, Wrapped?>>
    ) -> SortedTextProperty<Root, Wrapped?> {
        let inner = Target.Columns()[keyPath: property]
        return SortedTextProperty(
            column: inner.__column.reached(through: __column), encode: inner.__encode, read: inner.__read)
    }

    /// A reference of the object referred to: `$0.owner.city`.
    public subscript<Next: Model>(
        dynamicMember property: KeyPath<Target.Columns, ReferenceProperty<Target, Next>>
    ) -> ReferenceProperty<Root, Next> {
        let inner = Target.Columns()[keyPath: property]
        return ReferenceProperty<Root, Next>(
            column: inner.__column.reached(through: __column), index: inner.__propertyIndex)
    }

    /// A list of the object referred to; empty where there is none.
    public subscript<Next: Model>(
        dynamicMember property: KeyPath<Target.Columns, ReferencesProperty<Target, Next>>
    ) -> ReferencesProperty<Root, Next> {
        let inner = Target.Columns()[keyPath: property]
        return ReferencesProperty<Root, Next>(
            column: inner.__column.reached(through: __column), index: inner.__propertyIndex)
    }

    /// The inverse links of the object referred to; empty where there is none.
    public subscript<Source: Model>(
        dynamicMember property: KeyPath<Target.Columns, InverseProperty<Target, Source>>
    ) -> InverseProperty<Root, Source> {
        let inner = Target.Columns()[keyPath: property]
        return InverseProperty<Root, Source>(
            path: __column.steps(to: Target.__definition.table) + inner.path, property: inner.property)
    }
}

extension ReferenceProperty {
    /// Whether the reference names an object.
    public static func == (lhs: Self, rhs: Target) -> Predicate<Root> {
        lhs == rhs.reference
    }

    /// Whether the reference names another object, or none.
    public static func != (lhs: Self, rhs: Target) -> Predicate<Root> {
        lhs != rhs.reference
    }

    /// Whether the reference names one of some objects.
    public func `in`(_ objects: [Target]) -> Predicate<Root> {
        self.in(objects.map { $0.reference })
    }
}
