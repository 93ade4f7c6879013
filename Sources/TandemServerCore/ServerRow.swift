/// A row as the server has it.
public struct ServerRow: Sendable, Equatable {
    /// The table, in lower case.
    public let table: String
    /// The row's key.
    public let id: String
    /// What the row says of itself: all but the system's own members.
    public var members: JSONObject
    /// Opaque: base64.
    public let version: String
    /// In milliseconds since 1970.
    public let createdAt: Int64
    /// In milliseconds since 1970.
    public let updatedAt: Int64
    /// Whether it is what is left of a deleted row.
    public let deleted: Bool
    /// Whose it is, in a table per user.
    public let user: String?
}

extension ServedRow {
    /// The row with its members read.
    func row() throws -> ServerRow {
        ServerRow(
            table: table, id: key, members: try members(), version: stamp, createdAt: made, updatedAt: changed,
            deleted: isTombstone, user: user.isEmpty ? nil : user)
    }

    func members() throws -> JSONObject {
        guard case .object(let object) = try JSONReader.read(Array(json.utf8), maximumDepth: ServerLimits.deepestBody)
        else {
            throw JSONProblem.malformed(at: 0)
        }
        return object
    }
}
