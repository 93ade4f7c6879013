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
///   - options: `.localOnly` for a model that is stored, queried and observed, but never sent.
///   - table: The table's name in the store, if it differs from the struct's.
///   - wireName: The table's name on the server, if it differs from the table's.
///   - formerNames: The struct's names in earlier versions, for migration.
///   - indexes: Indexes over several properties.
@attached(member, names: arbitrary)
@attached(extension, conformances: Model, names: arbitrary)
public macro Model(
    _ options: ModelOption..., table: String? = nil, wireName: String? = nil, renamedFrom formerNames: String...,
    indexes: [ModelIndex] = []
) = #externalMacro(module: "TandemMacros", type: "ModelMacro")

/// Creates an index on a property, for filters and sorts.
@attached(peer) public macro Indexed() = #externalMacro(module: "TandemMacros", type: "IndexedMacro")

/// Requires that no two live objects have the same value. Objects with nil and deleted objects are not compared.
///
/// - Parameter uniqueness: The comparison for values.
@attached(peer) public macro Unique(_ uniqueness: Uniqueness = .exact) =
    #externalMacro(module: "TandemMacros", type: "UniqueMacro")

/// Stores folded keys of a text, for sorting and for search. See <doc:SortOrder> and <doc:FoldingRules>.
@attached(peer) public macro Folded(_ use: FoldedUse = .searched) =
    #externalMacro(module: "TandemMacros", type: "FoldedMacro")

/// Marks a property that is not stored. It needs a default value, which every read object has.
@attached(peer) public macro Transient() = #externalMacro(module: "TandemMacros", type: "TransientMacro")

/// Marks a property that is stored, queried and observed, but never sent: its changes create no operations.
@attached(peer) public macro LocalOnly() = #externalMacro(module: "TandemMacros", type: "LocalOnlyMacro")

/// Names that a property had in earlier versions, so that migration keeps its data.
@attached(peer) public macro Renamed(from names: String...) =
    #externalMacro(module: "TandemMacros", type: "RenamedMacro")

/// Sets other names for a property: of its column in the table, and on the wire.
@attached(peer) public macro Named(column: String? = nil, wire: String? = nil) =
    #externalMacro(module: "TandemMacros", type: "NamedMacro")

/// The effect of deleting the target of a reference on the object that holds the reference.
@attached(peer) public macro OnDelete(_ rule: DeleteRule) =
    #externalMacro(module: "TandemMacros", type: "OnDeleteMacro")

/// Declares the objects that refer to this object through a given reference: `@Inverse(\Card.owner)`.
///
/// The property's type is `InverseLinks<Card>`. The store keeps no data for it.
@attached(accessor) public macro Inverse<Root, Value>(_ reference: KeyPath<Root, Value>) =
    #externalMacro(module: "TandemMacros", type: "InverseMacro")
