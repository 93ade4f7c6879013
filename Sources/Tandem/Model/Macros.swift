/// Makes a struct a model that a store keeps. See <doc:Models>.
///
/// ```swift
/// @Model struct Card {
///     @Folded var shop: String
///     var points: BigInt = 0
/// }
/// ```
///
/// - Parameters:
///   - options: `.localOnly` for a model that is kept, queried and watched, but never sent.
///   - table: The table's name in the store, if it is not the struct's.
///   - wireName: The table's name on the server, if it is not the table's.
///   - formerNames: Names the struct had in earlier versions, for migration.
///   - indexes: Indexes over several properties.
@attached(member, names: arbitrary)
@attached(extension, conformances: Model, names: arbitrary)
public macro Model(
    _ options: ModelOption..., table: String? = nil, wireName: String? = nil, renamedFrom formerNames: String...,
    indexes: [ModelIndex] = []
) = #externalMacro(module: "TandemMacros", type: "ModelMacro")

/// What ``Model(_:table:wireName:renamedFrom:indexes:)`` can be told of a whole model.
public enum ModelOption: Sendable {
    /// Kept, queried and watched, never sent: no change makes an operation.
    case localOnly
}

/// An index over several properties, by their names: `.index("shop", "points")`, `.unique("person", "card")`.
public struct ModelIndex: Sendable {
    /// An index that speeds up filters and sorts which begin with these properties.
    public static func index(_ properties: String...) -> ModelIndex { ModelIndex() }
    /// Like an index; besides, no two live objects may have the same values in all of these properties.
    public static func unique(_ properties: String...) -> ModelIndex { ModelIndex() }
}

/// Keeps an index on a property, for filters and sorts.
@attached(peer) public macro Indexed() = #externalMacro(module: "TandemMacros", type: "IndexedMacro")

/// How values of a unique property are compared.
public enum Uniqueness: Sendable {
    /// By the values themselves. The default.
    case exact
    /// By the folded texts that sort a ``Folded(_:)`` property: "ЛЕНТА" and "Лента" are the same.
    case folded
}

/// Lets no two live objects have the same value; objects with nil are not compared. Deleted objects do not count.
///
/// - Parameter uniqueness: How values are compared.
@attached(peer) public macro Unique(_ uniqueness: Uniqueness = .exact) =
    #externalMacro(module: "TandemMacros", type: "UniqueMacro")

/// What a folded text is for.
public enum FoldedUse: Sendable {
    /// Sorted without regard to case, and found by `matches`. The default.
    case searched
    /// Sorted without regard to case; not searched, no search index is kept.
    case sorted
}

/// Keeps folded twins of a text, to sort and to search by. See <doc:FoldingRules>.
@attached(peer) public macro Folded(_ use: FoldedUse = .searched) =
    #externalMacro(module: "TandemMacros", type: "FoldedMacro")

/// A property that is not stored. It needs a default value, which it has whenever an object is read.
@attached(peer) public macro Transient() = #externalMacro(module: "TandemMacros", type: "TransientMacro")

/// A property that is stored, queried and watched, but never sent: its changes make no operation.
@attached(peer) public macro LocalOnly() = #externalMacro(module: "TandemMacros", type: "LocalOnlyMacro")

/// Names that a property had in earlier versions, so that its data is kept.
@attached(peer) public macro Renamed(from names: String...) =
    #externalMacro(module: "TandemMacros", type: "RenamedMacro")

/// A property's names elsewhere: of its column in the table, and on the wire.
@attached(peer) public macro Named(column: String? = nil, wire: String? = nil) =
    #externalMacro(module: "TandemMacros", type: "NamedMacro")

/// What deleting the object that a reference names does to the object that holds it.
@attached(peer) public macro OnDelete(_ rule: DeleteRule) =
    #externalMacro(module: "TandemMacros", type: "OnDeleteMacro")

/// The objects that refer to this one through one of their references: `@Inverse(\Card.owner)`.
///
/// The property's type is `InverseLinks<Card>`; nothing is stored for it.
@attached(accessor) public macro Inverse<Root, Value>(_ reference: KeyPath<Root, Value>) =
    #externalMacro(module: "TandemMacros", type: "InverseMacro")
