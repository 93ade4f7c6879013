import GRDB
import Synchronization

/// A store's objects in memory, by their IDs, for reads that need no access to the database.
///
/// The states of the database have numbers. A state that this process has seen has the header of the log's index. Each
/// commit of any process changes that header. The cache holds objects of the newest known state and of the states
/// before it:
///
/// - A reader whose state has a number looks up objects in that state. It does not see objects that were added in a
///   later state.
/// - A reader outside a transaction compares the header in shared memory with that of the newest known state. If they
///   are equal, no commit has ended since, and that state is the current one.
/// - A commit of this store removes the objects that it changed, and then gives the new header the next number. Until
///   then the new header has no number, and its readers read from the database.
/// - Any other commit leaves a header without a number. The next reader gives it one, and all cached objects become
///   outdated.
///
/// An object is added only if it was read in the newest known state, and no commit is being recorded. The cache is
/// therefore correct for all commits of all processes, recorded here or not.
///
/// A store in memory has no log and no other process. Each commit of its only connection is either recorded, or
/// reported by SQLite's commit hook: the state is then unknown until a commit is recorded.
final class ObjectCache: Sendable {
    /// The source of the current state.
    private enum Source {
        case memory
        case log(LogIndex)
        case closed
    }

    /// A part of the cache with its own lock.
    private final class Shard: Sendable {
        struct State {
            var table: CacheTable
            var source: Source
        }

        let state: Mutex<State>

        init(_ state: State) { self.state = Mutex(state) }
    }

    /// A reader's knowledge of its state.
    enum ReaderState {
        /// The reader must not use the cache.
        case unknown
        /// The reader's state is this one, if it is still the current one once the state is fixed.
        case since(LogIndexHeader)
        case number(UInt64)
    }

    /// The header of the newest known state. It is valid if ``newest`` is the same before and after it is read.
    private struct PublishedHeader: ~Copyable {
        let first = Atomic<UInt64>(0)
        let second = Atomic<UInt64>(0)
        let third = Atomic<UInt64>(0)
        let fourth = Atomic<UInt64>(0)
        let fifth = Atomic<UInt64>(0)
        let sixth = Atomic<UInt64>(0)

        var words: LogIndexHeader.Words {
            @inline(__always) get {
                (
                    first.load(ordering: .acquiring), second.load(ordering: .acquiring),
                    third.load(ordering: .acquiring), fourth.load(ordering: .acquiring),
                    fifth.load(ordering: .acquiring), sixth.load(ordering: .acquiring)
                )
            }
        }

        func store(_ header: LogIndexHeader) {
            first.store(header.words.0, ordering: .releasing)
            second.store(header.words.1, ordering: .releasing)
            third.store(header.words.2, ordering: .releasing)
            fourth.store(header.words.3, ordering: .releasing)
            fifth.store(header.words.4, ordering: .releasing)
            sixth.store(header.words.5, ordering: .releasing)
        }
    }

    private let shards: [Shard]
    private let schema: Schema
    let isInMemory: Bool
    /// The number of the newest known state, or 0 if it is not known.
    private let newest = Atomic<UInt64>(0)
    private let newestHeader = PublishedHeader()
    /// The number of the oldest state from which all changes are known. Objects of older states are outdated.
    private let oldest = Atomic<UInt64>(1)
    /// Held while a commit is recorded, or an unknown state gets a number. Its value is the last number.
    private let numbering = Mutex<UInt64>(1)
    /// Whether a commit is being recorded. Only the writer's thread uses it.
    private let isRecording = Atomic<Bool>(false)
    /// Whether an object was ever looked up. Until then nothing is cached, and commits need not record their changes.
    private let wasUsed = Atomic<Bool>(false)

    /// Creates the cache of a store.
    ///
    /// - Parameters:
    ///   - limit: The maximum size in bytes.
    ///   - index: The log's index, or `nil` for a store in memory.
    init(limit: Int, schema: Schema, index: LogIndex?) {
        self.schema = schema
        isInMemory = index == nil
        var count = 1
        while count < Self.maximumShards, limit / count > Self.shardSize { count *= 2 }
        shards = (0..<count).map { _ in
            Shard(Shard.State(table: CacheTable(limit: limit / count), source: index.map { .log($0) } ?? .memory))
        }
        if isInMemory { newest.store(1, ordering: .sequentiallyConsistent) }
    }

    private static let maximumShards = 16
    private static let shardSize = 1 << 19

    @inline(__always)
    private func shard(_ hash: UInt64) -> Shard { shards[Int(truncatingIfNeeded: hash >> 58) & (shards.count &- 1)] }

    // MARK: Reading

    /// Looks up an object in the current state, which includes all commits that have ended.
    @inline(__always)
    func find(_ key: CacheKey) -> CacheTable.LookupResult {
        recordUse()
        return shard(key.hash).state.withLock { shard in
            if let number = current(shard.source) {
                return shard.table.find(key, in: number, oldest: oldest.load(ordering: .acquiring))
            }
            if case .closed = shard.source { return .absent(isWanted: false) }
            return .absent(isWanted: shard.table.recordRead(key.hash))
        }
    }

    /// Looks up an object in the state with a number.
    @inline(__always)
    func find(_ key: CacheKey, in number: UInt64) -> CacheTable.LookupResult {
        recordUse()
        return shard(key.hash).state.withLock { shard in
            let oldest = oldest.load(ordering: .acquiring)
            // The changes between this state and the oldest one are not known.
            guard number >= oldest else { return .absent(isWanted: false) }
            return shard.table.find(key, in: number, oldest: oldest)
        }
    }

    /// Looks up all of several objects in the current state. Returns `nil` if one of them must be read.
    func findAll(_ keys: some Sequence<CacheKey>) -> [CachedObject]? {
        guard let number = shards[0].state.withLock({ current($0.source) }) else { return nil }
        var found: [CachedObject] = []
        for key in keys {
            guard case .object(let object) = find(key, in: number) else { return nil }
            found.append(object)
        }
        return found
    }

    /// Adds an object that was read in the state with a number. Does nothing if that state is not the newest any more.
    func insert<M: Model>(_ object: M, for key: CacheKey, in number: UInt64, byteCount: Int) {
        guard let cached = CachedObject(object) else { return }
        shard(key.hash).state.withLock { shard in
            if case .closed = shard.source { return }
            // A commit resets the number before it removes the objects that it changed. If that happens after this
            // check, the commit waits for the lock, and then removes this object too.
            guard newest.load(ordering: .sequentiallyConsistent) == number else { return }
            shard.table.insert(
                cached, for: key.sharingText(of: object), in: number, oldest: oldest.load(ordering: .acquiring),
                byteCount: byteCount + CacheTable.objectSize(M.self))
        }
    }

    @inline(__always)
    private func recordUse() {
        if !wasUsed.load(ordering: .relaxed) { wasUsed.store(true, ordering: .sequentiallyConsistent) }
    }

    /// Returns the number of the current state, or `nil` if it has none.
    @inline(__always)
    private func current(_ source: Source) -> UInt64? {
        let number = newest.load(ordering: .acquiring)
        guard number != 0 else { return nil }
        switch source {
        case .memory: return number
        case .closed: return nil
        case .log(let index):
            // If the number is still the same, the words belong to it, because numbers are not used twice.
            guard index.holds(newestHeader.words), newest.load(ordering: .acquiring) == number else { return nil }
            return number
        }
    }

    // MARK: The states of readers

    /// Returns the state of a reader that begins now. Call it before the reader's transaction begins.
    func readerState() -> ReaderState {
        if isInMemory {
            let number = newest.load(ordering: .acquiring)
            return number == 0 ? .unknown : .number(number)
        }
        return header().map { .since($0) } ?? .unknown
    }

    /// Returns the number of a reader's state, or `nil` if the reader must not use the cache.
    ///
    /// Call it after the first read of the reader's transaction, which fixes its state. If the header is the same
    /// before and after, no commit has ended in between. The header is then that of the reader's state.
    func number(of state: ReaderState) -> UInt64? {
        switch state {
        case .unknown: return nil
        case .number(let number): return number
        case .since(let first):
            guard header() == first else { return nil }
            let number = newest.load(ordering: .acquiring)
            if number != 0, newestHeader.words == first.words, newest.load(ordering: .acquiring) == number {
                return number
            }
            return give(first)
        }
    }

    /// Gives an unknown state a number, if it is still the current one.
    ///
    /// - Returns: `nil` if a newer state exists, or a commit is being recorded.
    private func give(_ state: LogIndexHeader) -> UInt64? {
        let number: UInt64?? = numbering.withLockIfAvailable { last in
            guard header() == state else { return nil }
            let number = newest.load(ordering: .acquiring)
            if number != 0, newestHeader.words == state.words { return number }
            last += 1
            newest.store(0, ordering: .sequentiallyConsistent)
            oldest.store(last, ordering: .sequentiallyConsistent)
            newestHeader.store(state)
            newest.store(last, ordering: .sequentiallyConsistent)
            return last
        }
        return number ?? nil
    }

    /// Returns the header of the current state, or `nil` while a commit is changing it, in memory, or after closing.
    func header() -> LogIndexHeader? {
        shards[0].state.withLock { shard in
            if case .log(let index) = shard.source { index.header() } else { nil }
        }
    }

    // MARK: Committing

    /// Whether a transaction must record its changes.
    var recordsChanges: Bool { wasUsed.load(ordering: .sequentiallyConsistent) }

    /// Commits, and removes the changed objects before readers can know the new state.
    ///
    /// - Parameters:
    ///   - changes: The hashes of the changed objects, or `nil` if they are not known.
    ///   - first: The header at the beginning of the transaction, which held the write lock from then on.
    ///   - commit: A closure that commits.
    func record(_ changes: [UInt64]?, since first: LogIndexHeader?, commit: () throws -> Void) rethrows {
        isRecording.store(true, ordering: .relaxed)
        defer { isRecording.store(false, ordering: .relaxed) }
        try numbering.withLock { last in
            // The transaction may have restarted the log, which changes the header but not the content.
            let before = header()
            try commit()
            if isInMemory {
                return publish(nil, changes: changes, isContinuous: true, last: &last)
            }
            let after = header()
            if after == before, after != nil { return }
            guard let before, let after, after.commitCount == before.commitCount &+ 1 else {
                // Another process has already committed again. Its changes are not known.
                newest.store(0, ordering: .sequentiallyConsistent)
                return
            }
            let known = LogIndexHeader(words: newestHeader.words)
            publish(after, changes: changes, isContinuous: known == before || known == first, last: &last)
        }
    }

    /// Records that a store in memory commits. If the commit is not recorded, its changes are unknown.
    func willCommit() {
        if !isRecording.load(ordering: .relaxed) { newest.store(0, ordering: .sequentiallyConsistent) }
    }

    /// Removes the changed objects, and publishes the new state. The caller holds the lock of the numbers.
    private func publish(
        _ header: LogIndexHeader?, changes: [UInt64]?, isContinuous: Bool, last: inout UInt64
    ) {
        let wasKnown = newest.exchange(0, ordering: .sequentiallyConsistent) != 0
        // From here on nothing is added.
        last += 1
        // If nothing was looked up until now, nothing is cached.
        let changes = changes ?? (wasUsed.load(ordering: .sequentiallyConsistent) ? nil : [])
        if wasKnown, isContinuous, let changes {
            for hash in changes { shard(hash).state.withLock { $0.table.remove(hash) } }
        } else {
            oldest.store(last, ordering: .sequentiallyConsistent)
        }
        if let header { newestHeader.store(header) }
        newest.store(last, ordering: .sequentiallyConsistent)
    }

    /// Returns the ID columns of the tables that can hold cached objects.
    func columns(on connection: Connection) -> IDColumns {
        let columns = connection.cache(IDColumns.self)
        columns.find(schema, on: connection)
        return columns
    }

    // MARK: Size

    /// The number of cached objects.
    var count: Int { shards.reduce(0) { $0 + $1.state.withLock { $0.table.count } } }

    /// The estimated memory of the cached objects, in bytes.
    var byteCount: Int { shards.reduce(0) { $0 + $1.state.withLock { $0.table.byteCount } } }

    /// Discards all objects, and overwrites their memory. No object is cached afterwards.
    fileprivate func close() {
        newest.store(0, ordering: .sequentiallyConsistent)
        for shard in shards {
            shard.state.withLock { shard in
                shard.source = .closed
                shard.table.removeAll()
            }
        }
    }
}

extension ObjectCache: CommitObserver {}

extension ObjectCache: StorePart {
    func commitParticipant(on connection: Connection) -> any CommitParticipant { CacheCommit(self, on: connection) }

    func storeWillClose() { close() }

    func writerWillClose(of store: Store) {
        if isInMemory { store.writer.connection.setCommitObserver(nil) }
    }
}

extension ObjectCache {
    /// Creates the cache of a store.
    ///
    /// - Parameter writer: The connection for writing, which lives as long as the store.
    /// - Returns: `nil` if the cache is turned off, or if commits of other processes would not be noticed.
    static func make(
        _ configuration: Store.Configuration, schema: Schema, writer: Store.WriterBox, isInMemory: Bool
    )
        -> ObjectCache?
    {
        let limit = configuration.objectCacheSize
        guard limit > 0 else { return nil }
        return writer.queue.unsafeReentrantRead { _ in
            if isInMemory {
                let cache = ObjectCache(limit: limit, schema: schema, index: nil)
                writer.connection.setCommitObserver(cache)
                return cache
            }
            guard let index = try? writer.connection.logIndex() else { return nil }
            return ObjectCache(limit: limit, schema: schema, index: index)
        }
    }
}
