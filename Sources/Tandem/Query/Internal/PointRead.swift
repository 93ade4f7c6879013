/// The prepared statement that reads an object by its local ID on a connection.
///
/// It is looked up by the model's type. Creating its SQL, or a look-up by its text, would cost as much as the read.
final class PointRead {
    private let statement: Statement

    init(_ model: ModelDefinition, on connection: Connection) throws {
        let columns = (RowDecoder.stateColumns + model.properties.map(\.column)).map(\.quotedSQL)
        statement = try connection.uncachedStatement(
            """
            SELECT \(columns.joined(separator: ", ")) FROM \(model.table.quotedSQL) \
            WHERE "localID" = ? AND "deleted" = 0
            """)
    }

    @inline(__always)
    func object<M: Model>(_ model: M.Type, localID: LocalID, path: String) throws -> M? {
        var text = localID.rawValue
        return try text.withUTF8 { utf8 in
            // Bind without a copy: the text outlives this execution, and the next one binds another text.
            statement.bindText(1, to: utf8, copied: false)
            defer { statement.reset() }
            return try statement.step() ? try M.read(statement.row(), path: path) : nil
        }
    }
}
