/// A builder of the SQL for a model's tables and indexes.
struct TableBuilder {
    let definition: ModelDefinition

    /// Returns the statement that creates the table. Columns of floating-point numbers have no type, so that SQLite
    /// keeps their bits: a REAL column turns -0.0 into 0. Long values come last, so that other columns are read without
    /// them.
    func createTable(named name: String) -> String {
        let state = """
            "__rid" INTEGER PRIMARY KEY, "localID" TEXT NOT NULL UNIQUE, "serverID" TEXT, \
            "synced" INTEGER NOT NULL DEFAULT 0, "deleted" INTEGER NOT NULL DEFAULT 0, "version" TEXT, \
            "createdAt", "updatedAt"
            """
        let short = definition.properties.filter { !$0.kind.isLong }.map(column)
        let twins = definition.properties.flatMap(twins)
        let long = definition.properties.filter(\.kind.isLong).map(column)
        return "CREATE TABLE \(name.quotedSQL) (\(([state] + short + twins + long).joined(separator: ", ")))"
    }

    /// Returns a property's column definition for CREATE TABLE.
    func column(_ property: PropertyDefinition) -> String {
        [property.column.quotedSQL, property.kind.affinity, property.isOptional ? nil : "NOT NULL"]
            .compactMap(\.self).joined(separator: " ")
    }

    /// Returns the column definitions of a property's folded keys for CREATE TABLE.
    func twins(of property: PropertyDefinition) -> [String] {
        property.keyColumns.map { "\($0.quotedSQL) \($0 == property.sortColumn ? "BLOB" : "TEXT")" }
    }

    /// The statement that creates the search index over the search keys: trigrams of the folded text, searched with
    /// GLOB. FTS5 reads the texts from the table. The store updates the index, because triggers would make each change
    /// eight times as slow.
    var createSearchTable: String? {
        guard let searchTable = definition.searchTable else { return nil }
        let columns = definition.properties.compactMap(\.searchColumn).map(\.quotedSQL).joined(separator: ", ")
        return """
            CREATE VIRTUAL TABLE \(searchTable.quotedSQL) USING fts5(\(columns), \
            content=\(definition.table.quotedSQL), content_rowid="__rid", \
            tokenize='trigram case_sensitive 1', detail=none, columnsize=0)
            """
    }

    /// The link tables of to-many references. They list the objects that refer to a target, and the positions.
    var createLinkTables: [String] {
        definition.properties.filter(\.isToMany).flatMap(createLinkTables)
    }

    /// Returns the statements for the link table of a to-many reference, and its index.
    func createLinkTables(of property: PropertyDefinition) -> [String] {
        let name = definition.linkTable(property)
        return [
            """
            CREATE TABLE \(name.quotedSQL) ("target" TEXT NOT NULL, "object" INTEGER NOT NULL, \
            "position" INTEGER NOT NULL, PRIMARY KEY ("target", "object", "position")) WITHOUT ROWID
            """,
            "CREATE INDEX \("\(name)_object".quotedSQL) ON \(name.quotedSQL) (\"object\", \"position\")",
        ]
    }

    struct Index: Equatable {
        let name: String
        let sql: String
        /// The properties of a unique index, for messages.
        let uniqueOver: [String]
    }

    /// The indexes over the state of an object. A local-only model has no such state.
    ///
    /// Three are partial: they contain only the few rows that such a query finds.
    private var stateIndexes: [(name: String, column: String, condition: String?)] {
        guard !definition.isLocalOnly else { return [] }
        let table = definition.table
        return [
            ("__unsynced_\(table)", "synced", "\"synced\" = 0"), ("__deleted_\(table)", "deleted", "\"deleted\" = 1"),
            ("__unsent_\(table)", "serverID", "\"serverID\" IS NULL"), ("__updated_\(table)", "updatedAt", nil),
        ]
    }

    var indexes: [Index] {
        let table = definition.table
        func index(
            _ name: String, columns: [String], isUnique: Bool? = nil, unique: [String] = [], condition: String? = nil
        ) -> Index {
            Index(
                name: name,
                sql: """
                    CREATE \(isUnique ?? (condition != nil) ? "UNIQUE " : "")INDEX \(name.quotedSQL) \
                    ON \(table.quotedSQL) (\(columns.map(\.quotedSQL).joined(separator: ", ")))\
                    \(condition.map { " WHERE \($0)" } ?? "")
                    """, uniqueOver: unique)
        }
        var indexes = [index("__server_\(table)", columns: ["serverID"], condition: "\"serverID\" IS NOT NULL")]
        indexes += stateIndexes.map { state in
            index(state.name, columns: [state.column], isUnique: false, condition: state.condition)
        }
        for property in definition.properties {
            if property.isToOne {
                indexes.append(index("__link_\(table)_\(property.column)", columns: [property.column]))
            }
            if let sortColumn = property.sortColumn {
                indexes.append(index("__sort_\(table)_\(property.column)", columns: [sortColumn]))
            }
            if property.isUnique {
                indexes.append(
                    index(
                        "__unique_\(table)_\(property.column)", columns: [property.uniqueColumn],
                        unique: [property.name],
                        condition: "\"deleted\" = 0"))
            }
            if property.isIndexed && !property.isToOne && !property.hasUniqueColumn {
                indexes.append(index("__index_\(table)_\(property.column)", columns: [property.column]))
            }
        }
        for definition in definition.indexes {
            let properties = definition.properties.compactMap { self.definition.index(ofProperty: $0) }
                .map { self.definition.properties[$0] }
            let columns = properties.map { definition.isUnique ? $0.column : $0.sortColumn ?? $0.column }
            let name =
                "\(definition.isUnique ? "__unique" : "__index")_\(table)_"
                + properties.map(\.column).joined(separator: "+")
            // A property's own index may be the same. For a folded text, the index of the sort key may make it
            // superfluous.
            guard !indexes.contains(where: { $0.name == name }) else { continue }
            indexes.append(
                index(
                    name, columns: columns, unique: definition.isUnique ? definition.properties : [],
                    condition: definition.isUnique ? "\"deleted\" = 0" : nil))
        }
        return indexes
    }
}

extension TableBuilder {
    /// The names of all tables and indexes of the model, including those that FTS5 creates.
    var names: [String] {
        let search = definition.searchTable.map { table in
            [table] + ["data", "idx", "docsize", "config", "content"].map { "\(table)_\($0)" }
        }
        let links = definition.properties.filter(\.isToMany).map(definition.linkTable).flatMap { [$0, "\($0)_object"] }
        return [definition.table] + (search ?? []) + links + indexes.map(\.name)
    }
}

extension PropertyKind {
    /// The column's declared type. It is only documentation, and does not change values.
    fileprivate var affinity: String? {
        switch self {
        case .bool, .integer, .unsigned64: "INTEGER"
        case .double, .float, .date: nil
        case .string, .url, .reference, .references, .collection, .json, .attachment: "TEXT"
        case .data, .uuid, .decimal, .bigInt, .bigUInt: "BLOB"
        }
    }
}
