import Tandem

extension ItemForms {
    /// What was kept of a server's item, read for the model; `nil` if another version of Tandem has written it.
    ///
    /// - Throws: ``UnreadableValue`` for a value that is none of its property's type.
    func stored(_ kept: KeptItem) throws(UnreadableValue) -> ServerItem? {
        guard let item = Self.item(from: kept.source) else { return nil }
        return try stored(item, keptAs: kept.source)
    }

    /// What the server has said, read for the model.
    ///
    /// - Parameter source: What was kept of it, if that is where it is from: whoever writes it must not take along what
    ///   has been kept in its place since.
    /// - Throws: ``UnreadableValue`` for a value that is none of its property's type.
    func stored(_ item: RemoteItem, keptAs source: [UInt8]?) throws(UnreadableValue) -> ServerItem {
        var stored = try stored(item)
        guard let source else { return stored }
        stored.source = source
        stored.wasKept = true
        return stored
    }
}
