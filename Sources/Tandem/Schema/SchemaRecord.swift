import Foundation

/// A store's schema as stored in its settings, from which its tables were created.
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
        /// Older versions of Tandem omit it.
        var isUniqueFolded: Bool?
        /// The effect of deleting the target of a reference. Only references have it, and older versions of Tandem omit
        /// it.
        var deleteRule: DeleteRule?
        /// The name on the wire, if it differs from the name. Older versions of Tandem omit it.
        var wireName: String?

        var sortColumn: String? { folding == .none ? nil : "__sort_\(column)" }
        var searchColumn: String? { folding == .searched ? "__search_\(column)" : nil }
        /// Stores of a format before 4 lack the column.
        var caselessColumn: String? { isUniqueFolded == true && folding != .none ? "__unique_\(column)" : nil }
        var keyColumns: [String] { [sortColumn, searchColumn, caselessColumn].compactMap(\.self) }

        /// The property without the facts that its table does not depend on.
        var withoutNotes: Property {
            var property = self
            property.deleteRule = nil
            property.wireName = nil
            return property
        }
    }

    struct Model: Codable, Equatable {
        var name: String
        var table: String
        var isLocalOnly: Bool
        var properties: [Property]
        var indexes: [IndexDefinition]
        /// The version of the folding rules of the stored keys, if the keys are outdated.
        ///
        /// The rules, the format of the keys or the sort order have then changed while the model was absent. The keys
        /// are computed again, whatever the version is.
        var foldingVersion: Int?
        /// Whether the store was written without the model. The targets of its references may have been deleted in the
        /// meantime.
        var isAbsent: Bool?
        /// Whether its rows were salvaged from a damaged file. All derived data is then rebuilt.
        var isSalvaged: Bool?
        /// The version of the indexes over the state of an object, or `nil` if they are missing.
        ///
        /// Older versions of Tandem omit it, and use the store with and without them.
        var stateIndexes: Int?
        /// The table's name on the wire, if it differs from the table. Older versions of Tandem omit it.
        var wireName: String?

        /// Whether the stored keys and the search index are those of this version of Tandem.
        var hasValidKeys: Bool { foldingVersion == nil && isSalvaged != true }

        /// The model without the facts that its tables do not depend on.
        var withoutNotes: Model {
            var model = self
            model.wireName = nil
            model.properties = properties.map(\.withoutNotes)
            return model
        }

        func property(named name: String) -> Property? { properties.first { $0.name == name } }

        var searchTable: String? {
            properties.contains { $0.folding == .searched } ? "__search_\(table)" : nil
        }

        var hasAttachments: Bool { properties.contains { $0.kind.attachmentIsList != nil } }

        var linkTables: [String] {
            properties.filter { if case .references = $0.kind { true } else { false } }
                .map { "__links_\(table)_\($0.column)" }
        }
    }

    var models: [Model]

    func model(named name: String) -> Model? { models.first { $0.name == name } }

    /// Records that the store is opened for writing with only some of its models.
    mutating func markAbsent(except names: Set<String>) {
        for index in models.indices where !names.contains(models[index].name) { models[index].isAbsent = true }
    }

    /// Whether the delete rules of all references are known.
    var hasDeleteRules: Bool {
        models.allSatisfy { model in
            model.properties.allSatisfy { property in
                switch property.kind {
                case .reference, .references: property.deleteRule != nil
                default: true
                }
            }
        }
    }

    /// Returns whether another record has the same tables.
    func hasTables(of other: SchemaRecord) -> Bool {
        func tables(_ record: SchemaRecord) -> [String: Model] {
            Dictionary(
                record.models.map { model in
                    var model = model.withoutNotes
                    model.isAbsent = nil
                    model.stateIndexes = nil
                    return (model.name, model)
                }, uniquingKeysWith: { first, _ in first })
        }
        return tables(self) == tables(other)
    }
}

extension SchemaRecord.Model {
    private static let stateIndexVersion = 1

    init(_ definition: ModelDefinition) {
        name = definition.name
        table = definition.table
        isLocalOnly = definition.isLocalOnly
        properties = definition.properties.map { property in
            SchemaRecord.Property(
                name: property.name, column: property.column, kind: property.kind, isOptional: property.isOptional,
                folding: property.folding, isIndexed: property.isIndexed, isUnique: property.isUnique,
                isLocalOnly: property.isLocalOnly, isUniqueFolded: property.isUniqueFolded ? true : nil,
                deleteRule: property.target == nil ? nil : property.deleteRule,
                wireName: property.wireName == property.name ? nil : property.wireName)
        }
        indexes = definition.indexes
        stateIndexes = Self.stateIndexVersion
        wireName = definition.wireName == definition.table ? nil : definition.wireName
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
