import Foundation

extension Model {
    /// This object with what a server has said about it, to be written in a `write(from: .server)`.
    ///
    /// For example:
    ///
    /// ```swift
    /// try store.write(from: .server) { tx in
    ///     try tx.upsert(Card(shop: "Лента", barcode: "1").received(serverID: "a7", version: "\"1\""))
    /// }
    /// ```
    ///
    /// In a write of the app's own these are not the app's to set, and are ignored.
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
