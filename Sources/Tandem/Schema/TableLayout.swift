/// The layout of a model's table, and the statements that depend on it. It is created once for each store.
///
/// Proof of `@unchecked Sendable`: `holders` and `linkTargets` are set while the schema is created, before another
/// thread can access it. After that they are only read.
final class TableLayout: @unchecked Sendable {
    let definition: ModelDefinition
    let table: String
    /// The table's name, quoted for SQL.
    let quotedTable: String
    let isLocalOnly: Bool

    /// A folded property: the index of its text, and the columns of its keys.
    struct Fold: Sendable {
        let property: Int
        let searchColumn: String?
        /// The column of the key that must be unique, if there is one.
        let uniqueColumn: String?
        /// The columns of all keys, in the order in which they are written.
        let columns: [String]

        fileprivate init?(_ definition: PropertyDefinition, property: Int) {
            guard definition.sortColumn != nil else { return nil }
            self.property = property
            searchColumn = definition.searchColumn
            uniqueColumn = definition.caselessColumn
            columns = definition.keyColumns
        }
    }
    let folds: [Fold]
    /// The folds with a search key, in the order of the search index's columns.
    let searched: [Fold]

    /// A reference, or a list of references.
    struct Link: Sendable {
        let property: Int
        let isToMany: Bool
        let target: ModelTarget
    }
    let links: [Link]

    /// The properties that hold attachments.
    let attachments: [AttachmentColumn]
    /// Whether an object's files can be sent.
    let sendsFiles: Bool

    /// The target tables of ``links``, in the same order.
    private(set) var linkTargets: [TableLayout] = []

    /// A reference of any model to this one.
    struct Holder: Sendable {
        let table: TableLayout
        let property: Int
        let isToMany: Bool
        let rule: DeleteRule
    }
    private(set) var holders: [Holder] = []

    /// The select list of every query that reads objects: the state, then the properties.
    let selectList: String
    let insertSQL: String
    /// The columns that an insert writes, quoted for SQL, in the order of its parameters: the state without the row
    /// number, the properties, the folded keys.
    let insertedColumns: [String]
    /// Reads a row for a change: the select list, then the search keys.
    let selectForUpdateByIDSQL: String
    let selectForUpdateByRowSQL: String
    let selectForUpdateByServerIDSQL: String

    init(_ definition: ModelDefinition) {
        self.definition = definition
        table = definition.table
        quotedTable = definition.table.quotedSQL
        isLocalOnly = definition.isLocalOnly
        folds = definition.properties.enumerated().compactMap { Fold($1, property: $0) }
        searched = folds.filter { $0.searchColumn != nil }
        links = definition.properties.enumerated().compactMap { index, property in
            property.target.map { Link(property: index, isToMany: property.isToMany, target: $0) }
        }
        attachments = definition.attachmentColumns
        sendsFiles = attachments.contains(where: \.isSent)
        let properties = definition.properties.map(\.column.quotedSQL)
        let state = RowDecoder.stateColumns.map(\.quotedSQL)
        selectList = (state + properties).joined(separator: ", ")
        let twins = folds.flatMap(\.columns).map(\.quotedSQL)
        let inserted = state.dropFirst() + properties + twins
        insertSQL = """
            INSERT INTO \(quotedTable) (\(inserted.joined(separator: ", "))) \
            VALUES (\(inserted.map { _ in "?" }.joined(separator: ", ")))
            """
        insertedColumns = Array(inserted)
        let searchTwins = searched.map { ", " + $0.searchColumn!.quotedSQL }.joined()
        let select = "SELECT \(selectList)\(searchTwins) FROM \(quotedTable)"
        selectForUpdateByIDSQL = "\(select) WHERE \"localID\" = ?1"
        selectForUpdateByRowSQL = "\(select) WHERE \"__rid\" = ?2 AND \"localID\" = ?1"
        selectForUpdateByServerIDSQL = "\(select) WHERE \"serverID\" = ?1"
    }

    /// Returns the statement that inserts several rows.
    ///
    /// It ends at the first row that violates a constraint, and keeps the rows before it. By default SQLite undoes
    /// them, for which it copies each page before its first change.
    func insertSQL(rows: Int) -> String {
        let row = "(\(insertedColumns.map { _ in "?" }.joined(separator: ", ")))"
        return """
            INSERT OR FAIL INTO \(quotedTable) (\(insertedColumns.joined(separator: ", "))) \
            VALUES \(repeatElement(row, count: rows).joined(separator: ", "))
            """
    }

    func findHolders(in schema: Schema) {
        linkTargets = links.compactMap { schema.table(of: $0.target) }
        holders = schema.tables.flatMap { table in
            table.links.filter { schema.table(of: $0.target) === self }.map { link in
                Holder(
                    table: table, property: link.property, isToMany: link.isToMany,
                    rule: table.definition.properties[link.property].deleteRule)
            }
        }
    }

    /// Returns the index of a property's column in the select list.
    func column(_ property: Int) -> Int32 {
        Int32(RowDecoder.stateColumns.count + property)
    }

    /// Returns the index of a search key in the list that an update reads.
    func searchTwinColumn(_ index: Int) -> Int32 {
        Int32(RowDecoder.stateColumns.count + definition.properties.count + index)
    }
}
