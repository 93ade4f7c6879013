/// The models of a store, validated together.
struct Schema: Sendable {
    /// The layouts of the models' tables, in the order of the models.
    let tables: [TableLayout]
    private let byIdentity: [ObjectIdentifier: TableLayout]
    /// Whether any model has attachments. Other stores skip all file handling.
    let hasAttachments: Bool

    /// - Throws: ``TandemError/Code/invalidSchema`` if the models can't be stored together.
    init(_ models: [any Model.Type]) throws {
        try self.init(definitions: models.map { $0.__definition })
    }

    /// - Throws: ``TandemError/Code/invalidSchema`` if the models can't be stored together.
    init(definitions: [ModelDefinition]) throws {
        var tables: [TableLayout] = []
        var byIdentity: [ObjectIdentifier: TableLayout] = [:]
        var tableNames: [String: String] = [:]
        var derivedNames: [String: String] = [:]
        for definition in definitions where byIdentity[definition.identity] == nil {
            let layout = TableLayout(definition)
            if let other = tableNames.updateValue(definition.name, forKey: layout.table.lowercased()) {
                throw TandemError(
                    .invalidSchema,
                    message: "Two models, \(other) and \(definition.name), have the table \(layout.table).",
                    advice: "Give one of them another table with @Model(table:).", model: definition.name)
            }
            try Self.check(definition)
            // A searched table Card_data would have the same names as FTS5's tables for a table Card.
            for name in TableBuilder(definition: definition).names {
                if let other = derivedNames.updateValue(definition.name, forKey: name.lowercased()) {
                    throw TandemError(
                        .invalidSchema,
                        message: "A table or index of this model and one of \(other) would both be named \(name).",
                        advice: "Give one of them another name, with @Model(table:) or @Named(column:).",
                        model: definition.name)
                }
            }
            tables.append(layout)
            byIdentity[definition.identity] = layout
        }
        for table in tables {
            for property in table.definition.properties {
                guard let target = property.target else { continue }
                guard byIdentity[target.identity] != nil else {
                    throw TandemError(
                        .invalidSchema,
                        message: "The property refers to \(target.name), which is not among the store's models.",
                        advice: "Add \(target.name).self to the models.", model: table.definition.name,
                        property: property.name)
                }
            }
        }
        self.tables = tables
        self.byIdentity = byIdentity
        hasAttachments = tables.contains { !$0.attachments.isEmpty }
        for table in tables { table.findHolders(in: self) }
    }

    /// Returns the layout of a model's table.
    func table<M: Model>(_ model: M.Type) throws -> TableLayout {
        guard let table = byIdentity[ObjectIdentifier(model)] else { throw Self.unknown("\(M.self)") }
        return table
    }

    func table(ofType model: any Model.Type) -> TableLayout? {
        byIdentity[ObjectIdentifier(model)]
    }

    func table(of definition: ModelDefinition) -> TableLayout? {
        byIdentity[definition.identity]
    }

    func table(of target: ModelTarget) -> TableLayout? {
        byIdentity[target.identity]
    }

    func table(named name: String) -> TableLayout? {
        tables.first { $0.table == name }
    }

    /// Returns the error for a model with a name in Swift.
    static func unknown(_ model: String) -> TandemError {
        TandemError(
            .unknownModel, message: "The store was not opened with this model.",
            advice: "Add \(model).self to the models given to Store(at:models:).", model: model)
    }

    private static func check(_ definition: ModelDefinition) throws {
        func refuse(_ message: String, advice: String, property: String? = nil) -> TandemError {
            TandemError(.invalidSchema, message: message, advice: advice, model: definition.name, property: property)
        }
        if definition.table.hasPrefix("__") || definition.table.lowercased().hasPrefix("sqlite_")
            || definition.table.isEmpty
        {
            throw refuse(
                "The table's name, \(definition.table), is reserved.", advice: "Choose another with @Model(table:).")
        }
        var columns: Set<String> = Set(RowDecoder.stateColumns.map { $0.lowercased() })
        for property in definition.properties {
            if property.column.hasPrefix("__") || property.column.isEmpty {
                throw refuse(
                    "The column's name, \(property.column), is reserved.",
                    advice: "Choose another with @Named(column:).",
                    property: property.name)
            }
            if !columns.insert(property.column.lowercased()).inserted {
                throw refuse(
                    "The column \(property.column) already exists (SQLite's names are not case-sensitive).",
                    advice: "Choose another with @Named(column:).", property: property.name)
            }
        }
        for property in definition.properties where property.kind.hidesAttachments {
            throw refuse(
                "The property is a \(property.kind): arrays are the only collections for attachments.",
                advice: "Use the type Attachment? or [Attachment].", property: property.name)
        }
        for index in definition.indexes {
            for name in index.properties where definition.index(ofProperty: name) == nil {
                throw refuse("An index names \(name), which is not a stored property.", advice: "Correct the index.")
            }
        }
    }
}
