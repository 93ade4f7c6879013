import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Tandem

/// Runs a block on another thread, and waits for it. `DispatchQueue.sync` would use this thread, and its transaction.
@discardableResult
func onOtherThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) throws -> T {
    expectBlockingAllowed()
    let result = Mutex<Result<T, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
        let outcome = Result { try body() }
        result.withLock { $0 = outcome }
        done.signal()
    }
    done.wait()
    return try #require(result.withLock { $0 }).get()
}

extension Store {
    /// Whether a read of an object by its local ID comes from memory. The check itself counts as a read.
    func isCached<M: Model>(_ model: M.Type, _ id: LocalID) -> Bool {
        isCached(CacheKey(model, kind: .localID, text: id.rawValue))
    }

    /// Whether a read of an object by its server ID is served from memory.
    func isCached<M: Model>(_ model: M.Type, _ id: ServerID) -> Bool {
        isCached(CacheKey(model, kind: .serverID, text: id.rawValue))
    }

    private func isCached(_ key: CacheKey) -> Bool {
        if case .object? = objectCache?.find(key) { true } else { false }
    }

    /// Reads an object until it is served from memory, and returns it.
    @discardableResult
    func cache<M: Model>(_ model: M.Type, _ id: LocalID, sourceLocation: SourceLocation = #_sourceLocation) throws -> M
    {
        for _ in 0..<2 { _ = try object(ofType: model, forPrimaryKey: id) }
        #expect(isCached(model, id), sourceLocation: sourceLocation)
        return try #require(try object(ofType: model, forPrimaryKey: id), sourceLocation: sourceLocation)
    }

    /// Reads an object by its server ID until it is served from memory.
    func cache<M: Model>(_ model: M.Type, _ id: ServerID, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for _ in 0..<2 { _ = try object(ofType: model, forServerID: id) }
        #expect(isCached(model, id), sourceLocation: sourceLocation)
    }

    /// Replaces an object in the cache, so that a read that is served from memory can be recognized.
    func plant<M: Model>(_ object: M) throws {
        let cache = try #require(objectCache)
        let number = try #require(cache.number(of: cache.readerState()))
        cache.insert(
            object, for: CacheKey(M.self, kind: .localID, text: object.localID.rawValue), in: number, byteCount: 0)
    }

    /// Returns the differences between reads by ID, which may be served from memory, and the stored rows.
    func cacheProblems<M: Model>(_ model: M.Type, _ ids: [LocalID]) throws -> [String] {
        let stored = Dictionary(
            uniqueKeysWithValues: try live(model).map { ($0.localID, (serverID: $0.serverID, values: Self.values($0))) }
        )
        var problems: [String] = []
        func compare(_ found: M?, _ expected: [StorageValue]?, how: String, id: String) {
            let found = found.map(Self.values)
            // Texts of values cost a hundred times as much as their comparison.
            guard found != expected else { return }
            let texts = [found, expected].map { $0.map { "\($0)" } ?? "nil" }
            problems.append("\(id) \(how): \(texts[0]), stored \(texts[1])")
        }
        // The first read may add the object, and the second may find it.
        for id in ids {
            for round in 1...2 {
                compare(
                    try object(ofType: model, forPrimaryKey: id), stored[id]?.values, how: "read \(round)",
                    id: id.rawValue)
            }
            try read { tx in
                compare(
                    try tx.object(ofType: model, forPrimaryKey: id), stored[id]?.values, how: "read in a block",
                    id: id.rawValue)
            }
        }
        for object in stored.values {
            guard let serverID = object.serverID else { continue }
            for round in 1...2 {
                compare(
                    try self.object(ofType: model, forServerID: serverID), object.values, how: "by server ID \(round)",
                    id: serverID.rawValue)
            }
        }
        return problems
    }

    /// Returns an object's metadata and values as they would be stored.
    private static func values<M: Model>(_ object: M) -> [StorageValue] {
        let row = RowEncoder()
        object.__append(to: row)
        let metadata: [StorageValue] = [
            .text(object.localID.rawValue), object.serverID.map { .text($0.rawValue) } ?? .null,
            .integer(object.isSynced ? 1 : 0), object.version.map { .text("\($0)") } ?? .null,
        ]
        return metadata + M.__definition.properties.indices.map { row.value(at: $0) }
    }
}
