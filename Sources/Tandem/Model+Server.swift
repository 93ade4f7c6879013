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
