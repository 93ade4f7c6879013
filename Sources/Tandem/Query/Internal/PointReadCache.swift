/// A connection's statements for reading an object by its local ID, by model.
final class PointReadCache: ConnectionCache {
    private var reads: [ObjectIdentifier: PointRead] = [:]
    /// The last requested statement. A model is mostly read in sequence, and hashing costs more.
    private var latest: (model: ObjectIdentifier, read: PointRead)?

    @inline(__always)
    func read(_ model: any Model.Type, make: () throws -> PointRead) throws -> PointRead {
        let key = ObjectIdentifier(model)
        if let latest, latest.model == key { return latest.read }
        if let known = reads[key] {
            latest = (key, known)
            return known
        }
        let read = try make()
        reads[key] = read
        latest = (key, read)
        return read
    }
}

extension Connection {
    @inline(__always)
    func pointRead<M: Model>(_ model: M.Type, in store: Store) throws -> PointRead {
        try cache(PointReadCache.self).read(model) {
            try store.requireModel(M.__definition)
            return try PointRead(M.__definition, on: self)
        }
    }
}
