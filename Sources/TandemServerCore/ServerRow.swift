/// A row on the server.
public struct ServerRow: Sendable, Equatable {
    /// The table, in lower case.
    public let table: String
    /// The row's key.
    public let id: String
    /// The row's own members, without the reserved ones.
    public var members: JSONObject
    /// The opaque version, in base64.
    public let version: String
    /// The time of creation, in milliseconds since 1970.
    public let createdAt: Int64
    /// The time of the last change, in milliseconds since 1970.
    public let updatedAt: Int64
    /// Whether the row is a tombstone.
    public let deleted: Bool
    /// The owner, in a table per user.
    public let user: String?
}

extension ServedRow {
    /// Returns the row with its members decoded.
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
