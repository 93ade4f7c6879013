/// The checks of ``Store/checkIntegrity()``, in a single transaction of a connection.
final class IntegrityCheck {
    let connection: Connection
    let schema: Schema
    /// The store whose files are checked too.
    let store: Store?
    private(set) var problems: [String] = []

    init(connection: Connection, schema: Schema, store: Store? = nil) {
        self.connection = connection
        self.schema = schema
        self.store = store
    }

    func run() throws -> [String] {
        try checkFile()
        for table in schema.tables {
            try checkRows(of: table)
            try checkSearchIndex(of: table)
            try checkLinks(of: table)
            try checkStates(of: table)
        }
        try checkWaiting()
        try checkOperations()
        try checkServerSide()
        try checkFiles()
        return problems
    }

    func report(_ problem: String) {
        problems.append(problem)
    }

    /// Runs a query, and calls a block for each of its rows.
    func each(_ sql: String, binding values: [StorageValue] = [], body: (Statement) throws -> Void) throws {
        let statement = try connection.uncachedStatement(sql)
        statement.bind(values)
        while try statement.step() { try body(statement) }
    }

    private func checkFile() throws {
        try each("PRAGMA integrity_check") { row in
            let text = try row.text(0)
            if text != "ok" { report("The file: \(text).") }
        }
    }

    // MARK: Rows

    /// Checks each value against its type, and each folded key against its text.
    private func checkRows(of table: TableLayout) throws {
        let twins = table.folds.flatMap(\.columns)
        let columns = twins.map { ", " + $0.quotedSQL }.joined()
        let row = RowEncoder()
        let expected = RowEncoder()
        let properties = table.definition.properties
        try each("SELECT \(table.selectList)\(columns) FROM \(table.quotedTable)") { statement in
            let reader = statement.row()
            let id = try reader.text(1)
            for (index, property) in properties.enumerated() {
                let column = table.column(index)
                if property.isOptional && reader.isNull(column) { continue }
                if !property.kind.storageClasses.contains(reader.type(column)) {
                    report("\(table.definition.name).\(property.name) of \(id) is not stored as a \(property.kind).")
                    continue
                }
                do {
                    try property.check(reader, column)
                } catch {
                    report("\(table.definition.name).\(property.name) of \(id) can't be read: \(error).")
                }
            }
            row.removeAll()
            expected.removeAll()
            for index in properties.indices { row.append(statement.value(table.column(index))) }
            for fold in table.folds { expected.appendTwins(fold, of: row, by: connection.collation) }
            for (index, twin) in twins.enumerated()
            where !expected.equals(
                index, row: reader, column: Int32(RowDecoder.stateColumns.count + properties.count + index))
            {
                report("The folded key \(twin) of the \(table.definition.name) \(id) does not match its text.")
            }
        }
    }

    private func checkSearchIndex(of table: TableLayout) throws {
        guard let search = table.definition.searchTable, !connection.isReadOnly else {
            return
        }
        do {
            try connection.execute(
                "INSERT INTO \(search.quotedSQL) (\(search.quotedSQL), rank) VALUES ('integrity-check', 1)")
        } catch {
            report("The search index of \(table.definition.name) does not match its texts: \(error)")
        }
    }

    // MARK: References

    private func liveIDs(of table: TableLayout) throws -> Set<LocalID> {
        var ids: Set<LocalID> = []
        try each("SELECT \"localID\" FROM \(table.quotedTable) WHERE \"deleted\" = 0") {
            ids.insert(LocalID(try $0.text(0)))
        }
        return ids
    }

    /// Checks that live objects refer only to live objects, and that the link tables match the lists.
    private func checkLinks(of table: TableLayout) throws {
        for (link, target) in zip(table.links, table.linkTargets) {
            let property = table.definition.properties[link.property]
            let name = "\(table.definition.name).\(property.name)"
            let live = try liveIDs(of: target)
            var listed: [Int64: [LocalID]] = [:]
            try each(
                """
                SELECT "__rid", "localID", "deleted", \(property.column.quotedSQL) FROM \(table.quotedTable) \
                WHERE \(property.column.quotedSQL) IS NOT NULL
                """
            ) { row in
                guard let ids = link.isToMany ? try? LinkList.parse(try row.text(3)) : [LocalID(try row.text(3))] else {
                    return report("\(name) of \(try row.text(1)) is not a list of references.")
                }
                if link.isToMany, !ids.isEmpty { listed[row.integer(0)] = ids }
                guard row.integer(2) == 0 else { return }
                for id in ids where !live.contains(id) {
                    report("\(name) of \(try row.text(1)) refers to \(id), which does not exist.")
                }
            }
            guard link.isToMany else { continue }
            let links = table.definition.linkTable(property)
            var kept: [Int64: [LocalID]] = [:]
            try each("SELECT \"object\", \"position\", \"target\" FROM \(links.quotedSQL) ORDER BY 1, 2") { row in
                let object = row.integer(0)
                if row.integer(1) != Int64(kept[object]?.count ?? 0) {
                    report("The links of \(name), row \(object), skip a position.")
                }
                kept[object, default: []].append(LocalID(try row.text(2)))
            }
            for object in Set(listed.keys).union(kept.keys).sorted() where listed[object] != kept[object] {
                report("The links of \(name), row \(object), do not match its list.")
            }
        }
    }

    /// Checks that each unresolved reference belongs to an existing object, and has a missing target.
    private func checkWaiting() throws {
        try each("SELECT \"target\", \"id\", \"table\", \"object\", \"column\" FROM \"__unresolved\"") { row in
            guard let target = schema.table(named: try row.text(0)),
                let holder = schema.table(named: try row.text(2))
            else { return }
            let (id, object, column) = (try row.text(1), row.integer(3), try row.text(4))
            let name = "\(holder.definition.name).\(column), row \(object),"
            guard let link = holder.links.first(where: { holder.definition.properties[$0.property].column == column })
            else { return report("\(name) waits for \(id), but is not a reference.") }
            let value = try connection.value(
                "SELECT ifnull(\(column.quotedSQL), 0) FROM \(holder.quotedTable) WHERE \"__rid\" = ?",
                binding: [.integer(object)])
            guard let value else { return report("\(name) waits for \(id), but does not exist.") }
            if !link.isToMany, value != .integer(0) { report("\(name) waits for \(id), but refers to another object.") }
            // A local ID can equal the server ID of a removed object, which the reference waits for.
            let live = try connection.value(
                """
                SELECT 1 FROM \(target.quotedTable) WHERE "deleted" = 0 \
                AND "localID" = ?1 AND ("serverID" IS NULL OR "serverID" = ?1)
                """, binding: [.text(id)])
            if live != nil { report("\(name) waits for \(id), which exists.") }
        }
    }
}

extension PropertyKind {
    /// The storage classes of the type's values.
    fileprivate var storageClasses: [Int32] {
        switch self {
        case .bool, .integer: [StorageClass.integer]
        case .unsigned64: [StorageClass.integer, StorageClass.blob]
        case .double, .float, .date: [StorageClass.real, StorageClass.blob]
        case .string, .url, .collection, .json, .reference, .references, .attachment: [StorageClass.text]
        case .data, .uuid, .decimal, .bigInt, .bigUInt: [StorageClass.blob]
        }
    }
}
