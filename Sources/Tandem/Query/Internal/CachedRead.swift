extension ReadTransaction {
    /// Reads an object by one of its IDs, from the cache if it has the object in this transaction's state.
    @inline(__always)
    func pointRead<M: Model>(_ model: M.Type, by kind: CacheKey.Kind, id: String) throws -> M? {
        let connection = try connectionForReading(searching: false)
        guard let cache = store.objectCache, let number = try cachedState(in: cache) else {
            return try connection.pointRead(model, by: kind, in: store).object(model, id: id, path: connection.path)
        }
        let key = CacheKey(model, kind: kind, text: id)
        switch cache.find(key, in: number) {
        case .object(let object): return object.value(model)
        case .absent(let isWanted):
            let read = try connection.pointRead(model, by: kind, in: store)
            guard isWanted else { return try read.object(model, id: id, path: connection.path) }
            var size = 0
            let object = try read.object(model, id: id, path: connection.path, size: &size, isMeasured: true)
            if let object { cache.insert(object, for: key, in: number, byteCount: size) }
            return object
        }
    }
}

extension Store {
    /// Reads an object by one of its IDs.
    ///
    /// Reads it from the cache if no commit of any process has changed it since it was read.
    @inline(__always)
    func pointRead<M: Model>(_ model: M.Type, by kind: CacheKey.Kind, id: String) throws -> M? {
        if let current = AccessFrame.current(on: self) { return try current.pointRead(model, by: kind, id: id) }
        guard let cache = objectCache else {
            return try reading { connection in
                try connection.pointRead(model, by: kind, in: self).object(model, id: id, path: connection.path)
            }
        }
        let key = CacheKey(model, kind: kind, text: id)
        switch cache.find(key) {
        case .object(let object): return object.value(model)
        case .absent(let isWanted):
            return try reading { connection in
                let read = try connection.pointRead(model, by: kind, in: self)
                guard isWanted else { return try read.object(model, id: id, path: connection.path) }
                // The statement is a transaction of its own, between these two.
                let state = cache.readerState()
                var size = 0
                let object = try read.object(model, id: id, path: connection.path, size: &size, isMeasured: true)
                if let object, let number = cache.number(of: state) {
                    cache.insert(object, for: key, in: number, byteCount: size)
                }
                return object
            }
        }
    }

    /// Reads several objects by their local IDs in one state, and skips those that do not exist or are deleted.
    func pointReads<M: Model>(_ model: M.Type, ids: some Sequence<LocalID>) throws -> [M] {
        if let cache = objectCache, AccessFrame.current(on: self) == nil {
            let keys = ids.lazy.map { CacheKey(model, kind: .localID, text: $0.rawValue) }
            if let found = cache.findAll(keys) { return found.map { $0.value(model) } }
        }
        return try read { transaction in
            try ids.compactMap { try transaction.pointRead(model, by: .localID, id: $0.rawValue) }
        }
    }
}
