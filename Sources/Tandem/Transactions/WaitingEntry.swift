// Preservation of unresolved entries while other values change. A change of a list keeps its invisible entries at their
// positions. An object that reads as having no owner, and is written back, keeps the owner that will arrive.

/// An unresolved entry of a reference or of a list: its position in the whole list, and its ID.
struct WaitingEntry: Hashable {
    var position: Int
    var id: LocalID

    /// Returns the position in the whole list of a resolved entry, from its index among the resolved entries.
    static func position(ofPresent index: Int, besides waiting: [WaitingEntry]) -> Int {
        var position = index
        for entry in waiting.sorted(by: { $0.position < $1.position }) where entry.position <= position {
            position += 1
        }
        return position
    }

    /// Returns a reference's stored value with the unresolved entries at their positions.
    static func whole(_ stored: StorageValue, with waiting: [WaitingEntry], isToMany: Bool) -> StorageValue {
        guard let first = waiting.first else { return stored }
        guard isToMany else { return stored == .null ? .text(first.id.rawValue) : stored }
        guard case .text(let text) = stored, var ids = try? LinkList.parse(text) else { return stored }
        for entry in waiting.sorted(by: { $0.position < $1.position }) {
            ids.insert(entry.id, at: min(entry.position, ids.count))
        }
        return .text(LinkList.text(ids))
    }
}

extension WriteTransaction {
    /// Returns the unresolved entries of an object's reference, in the order of their positions.
    func waitingEntries(of rowID: Int64, property: Int, in table: TableLayout) throws -> [WaitingEntry] {
        guard try hasUnresolved() else { return [] }
        return try connection.waitingEntries(of: rowID, property: property, in: table)
    }

    /// Returns the effect of an object's change on its unresolved references. For each reference with unresolved
    /// entries before or after the change, it has both states.
    ///
    /// - Parameters:
    ///   - only: The changed properties, or `nil` for all.
    ///   - unresolved: The references of the new values whose targets do not exist.
    ///   - keeps: Whether entries stay that the new values do not name. They stay if an object is written back by code
    ///     that could not see them. They are removed if the value was set explicitly, by name or by a server.
    func waitingChanges(
        _ row: RowEncoder, only: Set<Int>?, unresolved: [UnresolvedReference], keeps: Bool, of rowID: Int64,
        in table: TableLayout
    ) throws -> [Int: (before: [WaitingEntry], after: [WaitingEntry])] {
        guard !table.links.isEmpty, try !unresolved.isEmpty || hasUnresolved() else { return [:] }
        var changes: [Int: (before: [WaitingEntry], after: [WaitingEntry])] = [:]
        for link in table.links {
            if let only, !only.contains(link.property) { continue }
            let before = try waitingEntries(of: rowID, property: link.property, in: table)
            let new = unresolved.filter { $0.link.property == link.property }
            if before.isEmpty && new.isEmpty { continue }
            var after: [WaitingEntry] = []
            if link.isToMany {
                after = keeps ? before.filter { entry in !new.contains { $0.id == entry.id } } : []
                let kept = after
                after += new.map {
                    WaitingEntry(
                        position: WaitingEntry.position(ofPresent: $0.position, besides: kept), id: $0.id)
                }
                after.sort { $0.position < $1.position }
            } else if !new.isEmpty {
                after = new.map { WaitingEntry(position: 0, id: $0.id) }
            } else if keeps && row.isNull(link.property) {
                after = before
            }
            changes[link.property] = (before, after)
        }
        return changes
    }

    /// Replaces the unresolved entries of an object's reference.
    func replaceWaiting(
        _ entries: [WaitingEntry], of rowID: Int64, link: TableLayout.Link, in table: TableLayout
    )
        throws
    {
        try forgetUnresolved(of: rowID, in: table, property: link.property)
        guard let target = store.schema.table(of: link.target) else { return }
        try storeUnresolved(
            entries.map { UnresolvedReference(link: link, target: target, position: $0.position, id: $0.id) },
            of: rowID, in: table)
    }
}

extension Connection {
    /// Returns the unresolved entries of an object's reference, in the order of their positions.
    func waitingEntries(of rowID: Int64, property: Int, in table: TableLayout) throws -> [WaitingEntry] {
        try rows(
            """
            SELECT "position", "id" FROM "__unresolved" WHERE "table" = ? AND "object" = ? AND "column" = ? \
            ORDER BY "position"
            """,
            binding: [.text(table.table), .integer(rowID), .text(table.definition.properties[property].column)]
        ) { row in WaitingEntry(position: max(0, Int(row.integer(0))), id: LocalID(try row.text(1))) }
    }
}
