/// A model: its names, properties and indexes. Written by `@Model`, and what tables are made from.
public final class ModelDefinition: Sendable {
    /// The model's name in Swift.
    public let name: String
    /// The table's name.
    public let table: String
    /// The table's name on the wire.
    public let wireName: String
    /// Kept here only: never sent, and no change makes an operation.
    public let isLocalOnly: Bool
    /// Names that the model had in earlier versions of the schema.
    public let formerNames: [String]
    public let properties: [PropertyDefinition]
    /// Indexes over several properties.
    public let indexes: [IndexDefinition]
    package let type: any Model.Type

    /// Creates a definition. Called by the code that `@Model` writes.
    public init(
        _ type: any Model.Type,
        name: String,
        table: String? = nil,
        wireName: String? = nil,
        localOnly: Bool = false,
        formerNames: [String] = [],
        indexes: [IndexDefinition] = [],
        properties: [PropertyDefinition]
    ) {
        self.type = type
        self.name = name
        self.table = table ?? name
        self.wireName = wireName ?? table ?? name
        self.isLocalOnly = localOnly
        self.formerNames = formerNames
        self.indexes = indexes
        self.properties = properties
        self.propertyIndexes = Dictionary(
            properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private let propertyIndexes: [String: Int]

    /// The index of a property, by its name in Swift.
    func index(ofProperty name: String) -> Int? {
        propertyIndexes[name]
    }

    /// The virtual table with the search index of all searched properties, `nil` if there are none.
    var searchTable: String? {
        properties.contains { $0.folding == .searched } ? "__search_\(table)" : nil
    }

    /// The table that lists, for a to-many property, which object stands in which list at which place.
    func linkTable(_ property: PropertyDefinition) -> String {
        "__links_\(table)_\(property.column)"
    }
}
