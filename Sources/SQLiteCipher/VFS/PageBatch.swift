import GRDBSQLite
import Synchronization

/// A run of the database's pages that was read at once, and that the connection's thread and a helper decrypt between
/// them.
///
/// `@unchecked Sendable`: two threads can have a batch, the connection's and, from `lend()` until the end of
/// `work(_:)`, the helper's.
/// - `first`, `count` and the states as a whole are changed by `fill` and `wipe`. The connection's thread calls these
///   only while the batch is at home (`isLent` reads with acquiring, and the helper's last access is to store that it is
///   at home, with releasing order); the helper wipes a batch that was abandoned before it stores that. In between they
///   are only read, and by the connection's thread not at all once it has abandoned the batch.
/// - A page's bytes belong to whoever turned its state from `stored` to `claimed`, and only one can: it is an atomic
///   exchange. The owner ends with another state (releasing), from when on (acquiring) the bytes are only read, until
///   the next `fill` or `wipe`.
final class PageBatch: @unchecked Sendable {
    private enum State {
        static let stored: UInt8 = 0
        static let claimed: UInt8 = 1
        static let plain: UInt8 = 2
        static let damaged: UInt8 = 3
        /// The connection's thread decrypted it to where it was wanted; here it is as it was read.
        static let handedOut: UInt8 = 4
    }

    private enum Place {
        static let home: UInt8 = 0
        static let lent: UInt8 = 1
        static let abandoned: UInt8 = 2
    }

    /// How long the connection's thread waits for a page that the helper is at, in looks at its state: some
    /// microseconds. The helper may have lost its core in the middle; the page is then read a second time, by itself.
    private static let patience = 4000

    let capacity: Int
    private(set) var first: UInt32 = 0
    private(set) var count = 0
    private let pageSize: Int
    private let memory: UnsafeMutableRawPointer
    private let states: UnsafeMutablePointer<Atomic<UInt8>>
    private let place = Atomic<UInt8>(Place.home)
    /// Whether a helper had the batch since it was filled.
    private(set) var wasLent = false

    init(capacity: Int, pageSize: Int) {
        self.capacity = capacity
        self.pageSize = pageSize
        memory = .allocate(byteCount: capacity * pageSize, alignment: 4096)
        states = .allocate(capacity: capacity)
        for index in 0..<capacity { (states + index).initialize(to: Atomic(State.damaged)) }
    }

    deinit {
        wipe()
        memory.deallocate()
        states.deinitialize(count: capacity)
        states.deallocate()
    }

    var isLent: Bool { place.load(ordering: .acquiring) != Place.home }

    func index(of page: UInt32) -> Int? {
        page >= first && page - first < UInt32(count) ? Int(page - first) : nil
    }

    // MARK: - By the connection's thread, while the batch is not lent

    /// Reads pages, all of which must be there.
    func fill(from base: BaseFile, first: UInt32, count: Int) -> Bool {
        self.first = first
        self.count = count
        wasLent = false
        for index in 0..<count { states[index].store(State.stored, ordering: .relaxed) }
        return base.read(memory, count * pageSize, at: Int64(first - 1) * Int64(pageSize)) == SQLITE_OK
    }

    func lend() {
        wasLent = true
        place.store(Place.lent, ordering: .relaxed)
    }

    /// Overwrites what was decrypted.
    private func wipe() {
        UnsafeMutableRawBufferPointer(start: memory, count: count * pageSize).wipe()
        count = 0
    }

    // MARK: - By both

    private func claim(_ index: Int) -> Bool {
        states[index].compareExchange(
            expected: State.stored, desired: State.claimed, ordering: .acquiring
        ).exchanged
    }

    /// Decrypts a page in its place if nobody else has begun to, and tells whether it did.
    private func decrypt(_ index: Int, with codec: any PageCodec) -> Bool {
        guard claim(index) else { return false }
        let place = memory + index * pageSize
        let isAuthentic = codec.decrypt(place, page: first + UInt32(index), into: place)
        states[index].store(isAuthentic ? State.plain : State.damaged, ordering: .releasing)
        return true
    }

    /// What the helper does: decrypts page after page, until there are no more or nobody wants them.
    func work(_ codec: any PageCodec) {
        for index in 0..<count where place.load(ordering: .relaxed) == Place.lent {
            _ = decrypt(index, with: codec)
        }
        // Acquiring too: what the connection's thread read before it gave the batch up must not be overwritten sooner.
        let end = place.compareExchange(
            expected: Place.lent, desired: Place.home, ordering: .acquiringAndReleasing)
        if end.exchanged { return }
        wipe()
        place.store(Place.home, ordering: .releasing)
    }

    // MARK: - By the connection's thread

    /// Gives the pages up: the helper leaves the batch as soon as it notices, and overwrites it.
    private func recall() -> Bool {
        place.compareExchange(
            expected: Place.lent, desired: Place.abandoned, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Gives the pages up, to be replaced by others soon.
    func release() {
        _ = recall()
    }

    /// Gives the pages up and overwrites them: now or, if the helper has them, as soon as it notices.
    func abandon() {
        if !recall(), !isLent { wipe() }
    }

    /// Decrypts the first page from an index on that nobody has begun, and tells whether there was one.
    func decryptOne(from start: Int, with codec: any PageCodec) -> Bool {
        for index in start..<max(start, count) where decrypt(index, with: codec) { return true }
        return false
    }

    /// Gives a page's plaintext, or tells that there is none: it is damaged, or the helper is stuck with it.
    ///
    /// - Parameter meanwhile: something to do while the helper is at this page; tells whether there was anything.
    func take(
        _ index: Int, to target: UnsafeMutableRawPointer, with codec: any PageCodec, meanwhile: () -> Bool
    ) -> Bool {
        if claim(index) { states[index].store(State.handedOut, ordering: .releasing) }
        var looks = 0
        while true {
            switch states[index].load(ordering: .acquiring) {
            case State.handedOut:
                return codec.decrypt(memory + index * pageSize, page: first + UInt32(index), into: target)
            case State.plain:
                target.copyMemory(from: memory + index * pageSize, byteCount: pageSize)
                return true
            case State.claimed where looks < Self.patience:
                if !meanwhile() { looks += 1 }
            default:
                return false
            }
        }
    }
}
