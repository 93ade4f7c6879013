/// The dependencies of an operation.
extension ReadTransaction {
    /// Returns an object that blocks another one from being sent. The blocking object must be sent first, but it waits
    /// for the user: its insert failed, or is held. The search follows references transitively.
    ///
    /// - Returns: `nil` if no object blocks it.
    /// - Complexity: O(*k* log *n*), where *k* is the number of unsent objects that can be reached by references.
    package func blocker(of localID: LocalID, in table: String) throws -> (localID: LocalID, model: String)? {
        guard let table = store.schema.table(named: table) else { return nil }
        var seen: Set<String> = []
        var next = [(table: table, localID: localID)]
        while let (table, localID) = next.popLast() {
            guard seen.insert("\(table.table)\u{0}\(localID.rawValue)").inserted else { continue }
            for (place, link) in table.links.enumerated() {
                let target = table.linkTargets[place]
                for found in try unsentTargets(of: localID, link: link, in: table, target: target) {
                    if found.isStopped { return (found.localID, target.definition.name) }
                    next.append((target, found.localID))
                }
            }
        }
        return nil
    }

    /// Returns the targets of a property that the server does not know.
    private func unsentTargets(
        of localID: LocalID, link: TableLayout.Link, in table: TableLayout, target: TableLayout
    ) throws -> [(localID: LocalID, isStopped: Bool)] {
        let property = table.definition.properties[link.property]
        guard !property.isLocalOnly else { return [] }
        let joined =
            link.isToMany
            ? """
            JOIN \(table.definition.linkTable(property).quotedSQL) l ON l."object" = h."__rid" \
            JOIN \(target.quotedTable) t ON t."localID" = l."target"
            """
            : "JOIN \(target.quotedTable) t ON t.\"localID\" = h.\(property.column.quotedSQL)"
        return try connectionForReading(searching: false).rows(
            """
            SELECT t."localID", o."state" FROM \(table.quotedTable) h \(joined) \
            JOIN "__operations" o ON o."table" = ?1 AND o."object" = t."__rid" \
            WHERE h."localID" = ?2 AND t."serverID" IS NULL AND NOT t."deleted"
            """, binding: [.text(target.table), .text(localID.rawValue)]
        ) { row in
            let state = PendingOperation.State(rawValue: Int(row.integer(1)))
            return (LocalID(try row.text(0)), state == .failed || state == .held)
        }
    }
}
