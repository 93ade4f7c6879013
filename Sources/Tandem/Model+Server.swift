import Foundation

extension Model {
    /// Returns a copy of this object with a server's data about it, for a `write(from: .server)`.
    ///
    /// For example:
    ///
    /// ```swift
    /// try store.write(from: .server) { tx in
    ///     try tx.upsert(Card(shop: "Лента", barcode: "1").received(serverID: "a7", version: "\"1\""))
    /// }
    /// ```
    ///
    /// An ordinary write of the app ignores this data.
    ///
    /// - Parameters:
    ///   - serverID: The object's key on the server.
    ///   - version: The server's version of the object, if it has versions.
    ///   - createdAt: The time when the server created the object.
    ///   - updatedAt: The time of the last change on the server.
    public func received(
        serverID: ServerID, version: String? = nil, createdAt: Date? = nil, updatedAt: Date? = nil
    ) -> Self {
        var copy = self
        copy.__state.serverID = serverID
        copy.__state.version = version
        copy.__state.createdAt = createdAt
        copy.__state.updatedAt = updatedAt
        return copy
    }
}
