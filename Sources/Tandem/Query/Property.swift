/// A property in a query: `$0.points` in `where { $0.points > 100 }`.
///
/// What can be asked of one is in ``PropertyExpression``.
public struct Property<Root: Model, Value>: PropertyExpression {
    public let __column: ColumnPath
    public let __encode: @Sendable (Value) -> StorageValue

    init(column: ColumnPath, encode: @escaping @Sendable (Value) -> StorageValue) {
        __column = column
        __encode = encode
    }

    /// Called by the code that `@Model` writes.
    public init(_ definition: ModelDefinition, _ index: Int, _ codec: Codec<Value>) {
        __column = ColumnPath(definition, index)
        __encode = { codec.storageValue($0) }
    }
}

/// A text property with a search index: besides all that a property can do, it can be asked
/// `$0.shop.matches("маг")`.
public struct FoldedProperty<Root: Model, Value>: PropertyExpression {
    public let __column: ColumnPath
    public let __encode: @Sendable (Value) -> StorageValue

    init(column: ColumnPath, encode: @escaping @Sendable (Value) -> StorageValue) {
        __column = column
        __encode = encode
    }

    /// Called by the code that `@Model` writes.
    public init(_ definition: ModelDefinition, _ index: Int, _ codec: Codec<Value>) {
        __column = ColumnPath(definition, index)
        __encode = { codec.storageValue($0) }
    }
}

/// What can be compared, tested and sorted by in a query: a property of the model, or of one that it refers to.
public protocol PropertyExpression<Root, Value>: Sendable {
    associatedtype Root: Model
    associatedtype Value
    var __column: ColumnPath { get }
    var __encode: @Sendable (Value) -> StorageValue { get }
}

/// A reference in a query. Its target's properties are asked through it: `$0.owner.name == "Ада"`; where there is no
/// owner, they are nil.
@dynamicMemberLookup
public struct ReferenceProperty<Root: Model, Target: Model>: LinkProperty {
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

    /// A property of the object referred to; nil where there is none.
    public subscript<Value>(
        dynamicMember property: KeyPath<Target.Columns, Property<Target, Value>>
    ) -> Property<Root, Value?> {
        let inner = Target.Columns()[keyPath: property]
        return Property(column: inner.__column.reached(through: __column)) { [encode = inner.__encode] value in
            value.map { encode($0) } ?? .null
        }
    }
}

/// A list of references in a query: `$0.tags.any { $0.name == "new" }`, `$0.tags.count > 2`.
public struct ReferencesProperty<Root: Model, Target: Model>: LinkProperty {
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
}

/// The objects that refer to this one, in a query: `$0.cards.any { $0.points > 100 }`.
public struct InverseProperty<Root: Model, Source: Model>: Sendable {
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
}

/// A step from a model to the one that a reference of it names.
public struct ReferenceStep: Hashable, Sendable {
    /// The table that holds the reference.
    let table: String
    /// The reference's column.
    let column: String
    /// The table referred to.
    let target: String
}

/// A column, and the references that lead to its table from the query's model.
public struct ColumnPath: Sendable {
    /// The references to follow, from the query's model on.
    var steps: [ReferenceStep]
    /// The model that the column belongs to.
    let model: ModelDefinition
    /// The column: a property's or one of the state.
    let column: Column

    enum Column: Sendable {
        /// The index of a property in the model's definition.
        case property(Int)
        /// A column of the object's state, by its name, and whether it can be NULL.
        case state(String, isOptional: Bool, isFloating: Bool)
    }

    init(_ model: ModelDefinition, _ property: Int) {
        steps = []
        self.model = model
        column = .property(property)
    }

    init(_ model: ModelDefinition, _ column: Column) {
        steps = []
        self.model = model
        self.column = column
    }

    /// This column of the object that a reference names.
    func reached(through reference: ColumnPath) -> ColumnPath {
        var path = self
        let step = ReferenceStep(
            table: reference.model.table, column: reference.definition!.column, target: model.table)
        path.steps = reference.steps + [step] + steps
        return path
    }

    /// The property's definition, `nil` for a column of the state.
    var definition: PropertyDefinition? {
        if case .property(let index) = column { model.properties[index] } else { nil }
    }
}
