/// A connection's statements for reading an object by one of its IDs, by model.
final class PointReadCache: ConnectionCache {
    private struct Reads {
        private var reads: [ObjectIdentifier: PointRead] = [:]
        /// The last requested statement. A model is mostly read in sequence, and hashing costs more.
        private var latest: (model: ObjectIdentifier, read: PointRead)?

        @inline(__always)
        mutating func read(_ model: any Model.Type, make: () throws -> PointRead) throws -> PointRead {
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

    private var byLocalID = Reads()
    private var byServerID = Reads()

    @inline(__always)
    func read(
        _ model: any Model.Type, by kind: CacheKey.Kind, make: () throws -> PointRead
    ) throws -> PointRead {
        switch kind {
        case .localID: try byLocalID.read(model, make: make)
        case .serverID: try byServerID.read(model, make: make)
        }
    }
}

extension Connection {
    @inline(__always)
    func pointRead<M: Model>(
        _ model: M.Type, by kind: CacheKey.Kind = .localID, in store: Store
    ) throws -> PointRead {
        try cache(PointReadCache.self).read(model, by: kind) {
            try store.requireModel(M.__definition)
            return try PointRead(M.__definition, by: kind, on: self)
        }
    }
}
