/// A hop from the objects of a table to objects that they are linked with: the target of a reference, the objects of a
/// list, or the objects that refer to them.
///
/// A query is followed against its hops: from a changed object back to the objects of the query.
struct LinkHop: Hashable, Sendable {
    /// The reference or the list of references: its table, its column, and the table of its targets.
    let link: ReferenceStep
    /// The link table of a list, or `nil` for a reference.
    let links: String?
    /// Whether the hop leads from a target to the objects that refer to it.
    let isInverse: Bool

    /// The table that the hop leads to.
    var table: String { isInverse ? link.table : link.target }

    /// The column of the reached table that determines the objects before the hop: see ``keyCondition``.
    var keyColumn: String { isInverse ? link.column : "localID" }

    /// Whether the key column has the local IDs of several objects.
    var hasKeyList: Bool { isInverse && links != nil }

    /// The condition on a row before the hop to be linked with an object. The object's key is bound: its local ID or,
    /// for an inverse hop, a local ID that it names.
    var keyCondition: String {
        if isInverse { return "\"localID\" = ?" }
        guard let links else { return "\(link.column.quotedSQL) = ?" }
        return "\"__rid\" IN (SELECT \"object\" FROM \(links.quotedSQL) WHERE \"target\" = ?)"
    }

    /// Returns the condition on a row before the hop to be linked with an object that meets a condition.
    func condition(_ condition: String) -> String {
        let column = link.column.quotedSQL
        let rows = "FROM \(table.quotedSQL) WHERE \(condition)"
        guard let links = links?.quotedSQL else {
            return isInverse ? "\"localID\" IN (SELECT \(column) \(rows))" : "\(column) IN (SELECT \"localID\" \(rows))"
        }
        return isInverse
            ? "\"localID\" IN (SELECT \"target\" FROM \(links) WHERE \"object\" IN (SELECT \"__rid\" \(rows)))"
            : "\"__rid\" IN (SELECT \"object\" FROM \(links) WHERE \"target\" IN (SELECT \"localID\" \(rows)))"
    }
}
