/// The indices of the ID columns of the models' tables, which depend on the tables' history. A connection looks them up
/// once, because a hook must not run statements.
final class IDColumns: ConnectionCache {
    struct Table {
        let name: ContiguousArray<CChar>
        let model: ObjectIdentifier
        /// The index of each column, or -1 if it could not be looked up. Changes of the table are then not recorded.
        let localID: Int32
        let serverID: Int32
    }

    private var tables: [Table] = []
    private var isWhole = false

    /// Returns a table by its name, which is not case-sensitive.
    func table(named name: UnsafePointer<CChar>) -> Table? {
        // For few tables, a linear search is faster than hashing.
        tables.first { table in
            table.name.withUnsafeBufferPointer { SQLFunctions.isSameName($0.baseAddress!, as: name) }
        }
    }

    /// Looks up the columns of a schema's tables, unless they are known.
    func find(_ schema: Schema, on connection: Connection) {
        guard !isWhole else { return }
        isWhole = true
        tables = []
        for table in schema.tables {
            func index(of column: String) -> Int32 {
                let sql = "SELECT cid FROM pragma_table_info(?) WHERE name = ?"
                let found = try? connection.value(sql, binding: [.text(table.table), .text(column)])
                guard case .integer(let index)? = found else {
                    isWhole = false
                    return -1
                }
                return Int32(truncatingIfNeeded: index)
            }
            tables.append(
                Table(
                    name: table.table.utf8CString, model: table.definition.identity,
                    localID: index(of: "localID"), serverID: index(of: "serverID")))
        }
    }
}
