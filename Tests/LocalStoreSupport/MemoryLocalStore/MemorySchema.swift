import Tandem

/// The models of a ``MemoryLocalStore``, and their references.
struct MemorySchema: Sendable {
    let models: [MemoryModel]

    init(_ definitions: [ModelDefinition]) throws {
        for definition in definitions {
            for property in definition.properties {
                guard let target = property.targetModel?.table, !definitions.contains(where: { $0.table == target })
                else {
                    continue
                }
                throw TandemError(
                    .invalidSchema,
                    message: "The property refers to the table \(target), whose model the store does not have.",
                    advice: "Add it to the models.", model: definition.name, property: property.name)
            }
        }
        models = definitions.map { MemoryModel($0, among: definitions) }
    }

    func model(ofTable table: String) throws -> MemoryModel {
        guard let model = models.first(where: { $0.table == table }) else {
            throw TandemError(
                .unknownModel, message: "The store was not opened with a model of the table \(table).",
                advice: "Add it to the models given to MemoryLocalStore.")
        }
        return model
    }
}

/// A model's structure, as a ``MemoryLocalStore`` needs it.
struct MemoryModel: Sendable {
    /// A reference or a list of references, by its property's index.
    struct Link: Sendable {
        let place: Int
        let isToMany: Bool
        let target: String
    }

    /// A reference of another model to this one.
    struct Holder: Sendable {
        let table: String
        let place: Int
        let rule: DeleteRule
    }

    let definition: ModelDefinition
    let links: [Link]
    let holders: [Holder]
    /// The indexes of properties whose combined values must be unique among live objects.
    let uniques: [[Int]]

    var table: String { definition.table }
    var properties: [PropertyDefinition] { definition.properties }

    init(_ definition: ModelDefinition, among all: [ModelDefinition]) {
        self.definition = definition
        links = Self.links(of: definition)
        holders = all.flatMap { other in
            Self.links(of: other).filter { $0.target == definition.table }.map {
                Holder(table: other.table, place: $0.place, rule: other.properties[$0.place].deleteRule)
            }
        }
        let single = definition.properties.indices.filter { definition.properties[$0].isUnique }.map { [$0] }
        let several = definition.indexes.filter(\.isUnique).map { index in
            index.properties.compactMap { name in definition.properties.firstIndex { $0.name == name } }
        }
        uniques = single + several
    }

    private static func links(of definition: ModelDefinition) -> [Link] {
        definition.properties.enumerated().compactMap { place, property in
            guard let target = property.targetModel?.table else { return nil }
            let isToMany = if case .references = property.kind { true } else { false }
            return Link(place: place, isToMany: isToMany, target: target)
        }
    }

    func link(at place: Int) -> Link? { links.first { $0.place == place } }

    func place(of name: String) -> Int? { properties.firstIndex { $0.name == name } }

    /// The exchanged properties, with their indexes.
    var sent: [(place: Int, property: PropertyDefinition)] {
        properties.enumerated().filter { !$1.isLocalOnly }.map { ($0.offset, $0.element) }
    }
}
