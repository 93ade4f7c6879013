// References between objects. A reference's column names a live object, or is NULL. A list's column names only live
// objects. A target may not exist, because it has not arrived yet or is deleted. It then waits in the table
// `__unresolved`, and is inserted when the object arrives.

/// A cache of the local IDs of live objects in this transaction. An import that names an owner a thousand times then
/// looks it up once.
struct KnownTargets {
    private var known: [ObjectIdentifier: Set<LocalID>] = [:]
    /// The local IDs of live objects by their server IDs.
    private var byServerID: [ObjectIdentifier: [LocalID: LocalID]] = [:]
    /// Whether `__unresolved` has entries, or `nil` until it was looked up.
    var hasUnresolved: Bool?
    private static let limit = 4096

    func contains(_ table: TableLayout, id: LocalID) -> Bool {
        known[ObjectIdentifier(table)]?.contains(id) ?? false
    }

    mutating func insert(_ table: TableLayout, id: LocalID) {
        if known[ObjectIdentifier(table), default: []].count >= Self.limit { known[ObjectIdentifier(table)] = [] }
        known[ObjectIdentifier(table), default: []].insert(id)
    }

    /// Returns the local ID of the live object that has a server ID; `nil` if it is not in the cache.
    func localID(_ table: TableLayout, ofServerID id: LocalID) -> LocalID? {
        byServerID[ObjectIdentifier(table)]?[id]
    }

    mutating func insert(_ table: TableLayout, localID: LocalID, ofServerID id: LocalID) {
        if byServerID[ObjectIdentifier(table), default: [:]].count >= Self.limit { forgetServerIDs() }
        byServerID[ObjectIdentifier(table), default: [:]][id] = localID
    }

    /// Forgets the server IDs, which a response can change.
    mutating func forgetServerIDs() {
        if !byServerID.isEmpty { byServerID.removeAll() }
    }

    mutating func removeAll() {
        known.removeAll(keepingCapacity: true)
        forgetServerIDs()
        hasUnresolved = nil
    }
}

/// A reference to an object that does not exist.
struct UnresolvedReference {
    let link: TableLayout.Link
    let target: TableLayout
    let position: Int
    let id: LocalID
}

extension WriteTransaction {
    /// Keeps only references to live objects in a row, and returns the others.
    ///
    /// - Parameters:
    ///   - only: The properties in the row, or `nil` for all.
    ///   - source: The source of the references.
    func resolveLinks(
        _ row: RowEncoder, of table: TableLayout, only: Set<Int>? = nil, from source: RowSource
    ) throws -> [UnresolvedReference] {
        var unresolved: [UnresolvedReference] = []
        for (link, target) in zip(table.links, table.linkTargets) where !row.isNull(link.property) {
            if let only, !only.contains(link.property) { continue }
            if link.isToMany {
                try resolveList(link, target: target, row: row, from: source, unresolved: &unresolved)
            } else if let text = row.text(link.property) {
                let id = LocalID(text)
                if let live = try liveID(id, in: target, from: source) {
                    guard live != id else { continue }
                    row.replace(link.property) { $0.append(text: live.rawValue) }
                    hasRewrittenLinks = true
                } else {
                    row.replace(link.property) { $0.appendNull() }
                    hasRewrittenLinks = true
                    unresolved.append(UnresolvedReference(link: link, target: target, position: 0, id: id))
                }
            }
        }
        return unresolved
    }

    private func resolveList(
        _ link: TableLayout.Link, target: TableLayout, row: RowEncoder, from source: RowSource,
        unresolved: inout [UnresolvedReference]
    ) throws {
        let ids = try row.withBytes(of: link.property) { try LinkList.parse($0) }
        var resolved: [LocalID] = []
        for (position, id) in ids.enumerated() {
            if let live = try liveID(id, in: target, from: source) {
                resolved.append(live)
            } else {
                unresolved.append(UnresolvedReference(link: link, target: target, position: position, id: id))
            }
        }
        if resolved != ids {
            row.replace(link.property) { $0.append(text: LinkList.text(resolved)) }
            hasRewrittenLinks = true
        }
    }

    /// Returns the local ID of the live object that a reference names. A server's reference names an object by its
    /// server ID, or else by its local ID.
    private func liveID(_ id: LocalID, in target: TableLayout, from source: RowSource) throws -> LocalID? {
        if source == .server {
            if let known = knownTargets.localID(target, ofServerID: id) { return known }
            let statement = try connection.statement(
                "SELECT \"localID\" FROM \(target.quotedTable) WHERE \"serverID\" = ? AND \"deleted\" = 0")
            statement.bind(1, to: id.rawValue)
            defer { statement.reset() }
            if try statement.step() {
                let live = LocalID(try statement.text(0))
                if isApplyingPage { knownTargets.insert(target, localID: live, ofServerID: id) }
                return live
            }
        }
        if knownTargets.contains(target, id: id) { return id }
        let statement = try connection.statement(
            "SELECT 1 FROM \(target.quotedTable) WHERE \"localID\" = ? AND \"deleted\" = 0")
        statement.bind(1, to: id.rawValue)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        knownTargets.insert(target, id: id)
        return id
    }

    /// Writes a list's entries to its link table, which finds the holders of an object.
    ///
    /// - Parameter first: The index of the first property among the values of `row`.
    func writeLinks(
        _ link: TableLayout.Link, of rowID: Int64, row: RowEncoder, from first: Int = 0, in table: TableLayout
    ) throws {
        guard !row.isNull(first + link.property) else { return }
        let ids = try row.withBytes(of: first + link.property) { try LinkList.parse($0) }
        let links = table.definition.linkTable(table.definition.properties[link.property]).quotedSQL
        try connection.insertLinks(ids, of: rowID, into: links)
    }

    func removeLinks(_ link: TableLayout.Link, of rowID: Int64, in table: TableLayout) throws {
        let name = table.definition.linkTable(table.definition.properties[link.property]).quotedSQL
        try connection.execute("DELETE FROM \(name) WHERE \"object\" = ?", binding: [.integer(rowID)])
    }

    // MARK: Unresolved references

    func storeUnresolved(_ references: [UnresolvedReference], of rowID: Int64, in table: TableLayout) throws {
        for reference in references {
            try connection.storeUnresolved([
                .text(reference.target.table), .text(reference.id.rawValue), .text(table.table), .integer(rowID),
                .text(table.definition.properties[reference.link.property].column), .integer(Int64(reference.position)),
            ])
        }
        if !references.isEmpty { knownTargets.hasUnresolved = true }
    }

    /// Returns whether any reference waits for its target.
    func hasUnresolved() throws -> Bool {
        if let known = knownTargets.hasUnresolved { return known }
        let found = try connection.value("SELECT EXISTS (SELECT 1 FROM \"__unresolved\")") == .integer(1)
        knownTargets.hasUnresolved = found
        return found
    }

    /// Removes the unresolved entries of an object's property: it has another value now, or the object is removed.
    func forgetUnresolved(of rowID: Int64, in table: TableLayout, property: Int?) throws {
        guard try hasUnresolved() else { return }
        if let property {
            try connection.execute(
                "DELETE FROM \"__unresolved\" WHERE \"table\" = ? AND \"object\" = ? AND \"column\" = ?",
                binding: [.text(table.table), .integer(rowID), .text(table.definition.properties[property].column)])
        } else {
            try connection.execute(
                "DELETE FROM \"__unresolved\" WHERE \"table\" = ? AND \"object\" = ?",
                binding: [.text(table.table), .integer(rowID)])
        }
    }

    /// Resolves the references that wait for a new object.
    func resolveWaiting(for state: ObjectState, in table: TableLayout) throws {
        guard try hasUnresolved() else { return }
        let waiting = try connection.rows(
            """
            SELECT "table", "object", "column", "position", "id" FROM "__unresolved" \
            WHERE "target" = ?1 AND "id" IN (?2, ?3) ORDER BY "table", "object", "column", "position"
            """,
            binding: [
                .text(table.table), .text(state.localID.rawValue), state.serverID.map { .text($0.rawValue) } ?? .null,
            ]
        ) { row in
            (
                table: try row.text(0), object: row.integer(1), column: try row.text(2), position: row.integer(3),
                id: try row.text(4)
            )
        }
        for entry in waiting {
            if let holder = store.schema.table(named: entry.table),
                let link = holder.links.first(where: {
                    holder.definition.properties[$0.property].column == entry.column
                })
            {
                try insertReference(
                    state.localID, in: holder, link: link, row: entry.object, position: max(0, Int(entry.position)))
            }
            try connection.execute(
                """
                DELETE FROM "__unresolved" WHERE "target" = ? AND "id" = ? AND "table" = ? AND "object" = ? \
                AND "column" = ? AND "position" = ?
                """,
                binding: [
                    .text(table.table), .text(entry.id), .text(entry.table), .integer(entry.object),
                    .text(entry.column), .integer(entry.position),
                ])
        }
    }

    /// Inserts a reference at its position. This is not a change of the app, and does not queue an operation.
    private func insertReference(
        _ id: LocalID, in holder: TableLayout, link: TableLayout.Link, row: Int64, position: Int
    ) throws {
        let property = holder.definition.properties[link.property]
        let column = property.column.quotedSQL
        guard link.isToMany else {
            try connection.execute(
                "UPDATE \(holder.quotedTable) SET \(column) = ? WHERE \"__rid\" = ? AND \(column) IS NULL",
                binding: [.text(id.rawValue), .integer(row)])
            return
        }
        guard
            case .text(let text)? = try connection.value(
                "SELECT \(column) FROM \(holder.quotedTable) WHERE \"__rid\" = ?", binding: [.integer(row)])
        else { return }
        var ids = try LinkList.parse(text)
        // Unresolved entries at earlier positions are not in the list.
        let waiting = try connection.value(
            """
            SELECT count(*) FROM "__unresolved" WHERE "table" = ? AND "object" = ? AND "column" = ? AND "position" < ?
            """,
            binding: [.text(holder.table), .integer(row), .text(property.column), .integer(Int64(position))])
        if case .integer(let before)? = waiting { ids.insert(id, at: max(0, min(position - Int(before), ids.count))) }
        try connection.replaceList(ids, of: row, property: property, in: holder)
    }
}

extension Connection {
    /// Replaces the list of an object, in its row and in its link table.
    func replaceList(_ ids: [LocalID], of rowID: Int64, property: PropertyDefinition, in table: TableLayout) throws {
        try execute(
            "UPDATE \(table.quotedTable) SET \(property.column.quotedSQL) = ? WHERE \"__rid\" = ?",
            binding: [.text(LinkList.text(ids)), .integer(rowID)])
        let links = table.definition.linkTable(property).quotedSQL
        try execute("DELETE FROM \(links) WHERE \"object\" = ?", binding: [.integer(rowID)])
        try insertLinks(ids, of: rowID, into: links)
    }

    /// Inserts the entries of an object's list into a link table.
    ///
    /// - Parameter links: The table's name as an SQL identifier.
    fileprivate func insertLinks(_ ids: [LocalID], of rowID: Int64, into links: String) throws {
        let insert = try statement("INSERT INTO \(links) (\"target\", \"object\", \"position\") VALUES (?, ?, ?)")
        for (position, id) in ids.enumerated() {
            insert.bind(1, to: id.rawValue)
            insert.bind(2, to: rowID)
            insert.bind(3, to: Int64(position))
            try insert.run()
        }
    }

    /// Stores an unresolved reference.
    ///
    /// - Parameter values: The target's table and ID, the holder's table, row and column, and the position.
    func storeUnresolved(_ values: [StorageValue]) throws {
        try execute(
            """
            INSERT OR REPLACE INTO "__unresolved" ("target", "id", "table", "object", "column", "position") \
            VALUES (?, ?, ?, ?, ?, ?)
            """, binding: values)
    }
}

/// The stored form of a list of references: a JSON array of local IDs.
package enum LinkList {
    static func parse(_ bytes: UnsafeBufferPointer<UInt8>) throws -> [LocalID] {
        guard case .array(let nodes) = try ExactJSON.parse(bytes) else {
            throw InvalidEncoding("a list of references", code: .malformed, problem: "it is not an array")
        }
        return try nodes.map { node in
            guard case .text(let id) = node else {
                throw InvalidEncoding("a list of references", code: .malformed, problem: "an element is not a text")
            }
            return LocalID(id)
        }
    }

    package static func parse(_ text: String) throws -> [LocalID] {
        var text = text
        return try text.withUTF8 { try parse($0) }
    }

    package static func text(_ ids: [LocalID]) -> String { ExactJSON.array(of: ids.lazy.map(\.rawValue)) }
}
