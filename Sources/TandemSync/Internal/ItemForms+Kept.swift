import Tandem

extension ItemForms {
    /// Decodes a deferred server item for the model; `nil` if another version of Tandem wrote it.
    ///
    /// - Throws: ``UnreadableValue`` if a value does not have its property's type.
    func stored(_ kept: KeptItem) throws(UnreadableValue) -> ServerItem? {
        guard let item = Self.item(from: kept.source) else { return nil }
        return try stored(item, keptAs: kept.source)
    }

    /// Decodes a server item for the model.
    ///
    /// - Parameter source: The stored form of the deferred item, if the item comes from there. A write must not remove
    ///   a newer deferred item.
    /// - Throws: ``UnreadableValue`` if a value does not have its property's type.
    func stored(_ item: RemoteItem, keptAs source: [UInt8]?) throws(UnreadableValue) -> ServerItem {
        var stored = try stored(item)
        guard let source else { return stored }
        stored.source = source
        stored.wasKept = true
        return stored
    }
}
