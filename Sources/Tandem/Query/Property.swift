/// What can be compared, tested, sorted and grouped by in a query: a property of the model, or of one that it refers
/// to.
///
/// For example:
///
/// ```swift
/// store.objects(Card.self).where { $0.points > 100 && $0.shop.hasPrefix("Ма") }
/// ```
///
/// ## Topics
/// ### Comparing
/// - `==(_:_:)`
/// - ``in(_:)``
/// - ``contains(_:)-(ValueRange)``
/// ### Texts
/// - ``hasPrefix(_:)``
/// - ``hasSuffix(_:)``
/// - ``contains(_:)-(String)``
/// - ``like(_:)``
public protocol PropertyExpression<Root, Value>: Sendable {
    associatedtype Root: Model
    associatedtype Value
    var __column: ColumnPath { get }
    var __encode: @Sendable (Value) -> StorageValue { get }
    var __read: @Sendable (RowReader, Int32) throws -> Value { get }
}

/// A property in a query: `$0.points` in `where { $0.points > 100 }`.
///
/// What can be asked of one is in ``PropertyExpression``.
public struct Property<Root: Model, Value>: PropertyExpression {
    public let __column: ColumnPath
    public let __encode: @Sendable (Value) -> StorageValue
    public let __read: @Sendable (RowReader, Int32) throws -> Value

    init(
        column: ColumnPath, encode: @escaping @Sendable (Value) -> StorageValue,
        read: @escaping @Sendable (RowReader, Int32) throws -> Value
    ) {
        __column = column
        __encode = encode
        __read = read
    }

    /// Called by the code that `@Model` writes.
    public init(_ definition: ModelDefinition, _ index: Int, _ codec: Codec<Value>) {
        self.init(
            column: ColumnPath(definition, index), encode: { codec.storageValue($0) }, read: codec.read)
    }
}

/// A text that is folded when it is stored, `@Folded` or `@Folded(.sorted)`: it can be asked without regard to case, by
/// ``folded`` and ``firstLetter``. Not to be conformed to.
public protocol FoldedExpression<Root, Value>: PropertyExpression {}

/// A text property with `@Folded(.sorted)`: it is sorted without regard to case, and not searched.
public struct SortedTextProperty<Root: Model, Value>: FoldedExpression {
    public let __column: ColumnPath
    public let __encode: @Sendable (Value) -> StorageValue
    public let __read: @Sendable (RowReader, Int32) throws -> Value

    init(
        column: ColumnPath, encode: @escaping @Sendable (Value) -> StorageValue,
        read: @escaping @Sendable (RowReader, Int32) throws -> Value
    ) {
        __column = column
        __encode = encode
        __read = read
    }

    /// Called by the code that `@Model` writes.
    public init(_ definition: ModelDefinition, _ index: Int, _ codec: Codec<Value>) {
        self.init(
            column: ColumnPath(definition, index), encode: { codec.storageValue($0) }, read: codec.read)
    }
}

/// A text property with a search index: besides all that a property can do, it can be asked
/// `$0.shop.matches("маг")`.
public struct FoldedProperty<Root: Model, Value>: FoldedExpression {
    public let __column: ColumnPath
    public let __encode: @Sendable (Value) -> StorageValue
    public let __read: @Sendable (RowReader, Int32) throws -> Value

    init(
        column: ColumnPath, encode: @escaping @Sendable (Value) -> StorageValue,
        read: @escaping @Sendable (RowReader, Int32) throws -> Value
    ) {
        __column = column
        __encode = encode
        __read = read
    }

    /// Called by the code that `@Model` writes.
    public init(_ definition: ModelDefinition, _ index: Int, _ codec: Codec<Value>) {
        self.init(
            column: ColumnPath(definition, index), encode: { codec.storageValue($0) }, read: codec.read)
    }
}
