import Tandem

extension ItemCoder {
    /// Decodes a deferred server item for the model; `nil` if another version of Tandem wrote it.
    ///
    /// - Throws: ``UnreadableValue`` if a value does not have its property's type.
    func decode(_ deferred: DeferredItem) throws(UnreadableValue) -> ServerItem? {
        guard let item = Self.item(from: deferred.source) else { return nil }
        return try decode(item, deferredAs: deferred.source)
    }

    /// Decodes a server item for the model.
    ///
    /// - Parameter source: The stored form of the deferred item, if the item comes from there. A write must not remove
    ///   a newer deferred item.
    /// - Throws: ``UnreadableValue`` if a value does not have its property's type.
    func decode(_ item: RemoteItem, deferredAs source: [UInt8]?) throws(UnreadableValue) -> ServerItem {
        var stored = try decode(item)
        guard let source else { return stored }
        stored.source = source
        stored.wasDeferred = true
        return stored
    }
}
