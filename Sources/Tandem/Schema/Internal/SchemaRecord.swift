import Foundation

/// A store's schema as it is kept in the store: what its tables were made from.
struct SchemaRecord: Codable, Equatable {
    struct Property: Codable, Equatable {
        var name: String
        var column: String
        var kind: PropertyKind
        var isOptional: Bool
        var folding: PropertyDefinition.Folding
        var isIndexed: Bool
        var isUnique: Bool
        var isLocalOnly: Bool
    }

    struct Model: Codable, Equatable {
        var name: String
        var table: String
        var isLocalOnly: Bool
        var properties: [Property]
        var indexes: [IndexDefinition]

        func property(named name: String) -> Property? { properties.first { $0.name == name } }

        var searchTable: String? {
            properties.contains { $0.folding == .searched } ? "__search_\(table)" : nil
        }

        var linkTables: [String] {
            properties.filter { if case .references = $0.kind { true } else { false } }
                .map { "__links_\(table)_\($0.column)" }
        }
    }

    var models: [Model]

    func model(named name: String) -> Model? { models.first { $0.name == name } }
}

extension SchemaRecord.Model {
    init(_ definition: ModelDefinition) {
        name = definition.name
        table = definition.table
        isLocalOnly = definition.isLocalOnly
        properties = definition.properties.map { property in
            SchemaRecord.Property(
                name: property.name, column: property.column, kind: property.kind, isOptional: property.isOptional,
                folding: property.folding, isIndexed: property.isIndexed, isUnique: property.isUnique,
                isLocalOnly: property.isLocalOnly)
        }
        indexes = definition.indexes
    }
}

extension SchemaRecord {
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    init(json: String) throws {
        self = try JSONDecoder().decode(SchemaRecord.self, from: Data(json.utf8))
    }
}
