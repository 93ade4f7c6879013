import GRDBSQLite
import Synchronization

/// A run of the database's pages that was read at once. The connection's thread and a worker decrypt it together.
///
/// `@unchecked Sendable`: two threads can access a batch, the connection's and the worker's. The worker has access from
/// `lend()` until the end of `work(_:)`.
/// - `fill` and `wipe` change `first`, `count` and the states as a whole. The connection's thread calls them only while
///   the batch is at home. `isLent` reads that with acquire, and the worker's last access stores it with release. The
///   worker wipes an abandoned batch before it stores that. Between these calls the values are only read. The
///   connection's thread does not read them after it has abandoned the batch.
/// - A page's bytes belong to the thread that changed its state from `stored` to `claimed`. Only one thread can,
///   because it is an atomic exchange. The owner ends with another state (release). After that (acquire) the bytes are
///   only read, until the next `fill` or `wipe`.
final class PageBatch: @unchecked Sendable {
    private enum State {
        static let stored: UInt8 = 0
        static let claimed: UInt8 = 1
        static let plain: UInt8 = 2
        static let damaged: UInt8 = 3
        /// The connection's thread decrypts the page directly into the reader's buffer. The batch keeps the ciphertext.
        static let handedOut: UInt8 = 4
    }

    private enum Ownership {
        static let home: UInt8 = 0
        static let lent: UInt8 = 1
        static let abandoned: UInt8 = 2
    }

    /// How often the connection's thread polls for a page that the worker has claimed: some microseconds. If the worker
    /// has lost its core meanwhile, the page is read a second time, alone.
    private static let patience = 4000

    let capacity: Int
    private(set) var first: UInt32 = 0
    private(set) var count = 0
    private let pageSize: Int
    private let memory: UnsafeMutableRawPointer
    private let states: UnsafeMutablePointer<Atomic<UInt8>>
    private let ownership = Atomic<UInt8>(Ownership.home)
    /// Whether a worker has had the batch since it was filled.
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

    var isLent: Bool { ownership.load(ordering: .acquiring) != Ownership.home }

    func index(of page: UInt32) -> Int? {
        page >= first && page - first < UInt32(count) ? Int(page - first) : nil
    }

    // MARK: - By the connection's thread, while the batch is not lent

    /// Reads pages. All of them must exist in the file.
    func fill(from base: BaseFile, first: UInt32, count: Int) -> Bool {
        self.first = first
        self.count = count
        wasLent = false
        for index in 0..<count { states[index].store(State.stored, ordering: .relaxed) }
        return base.read(memory, count: count * pageSize, at: Int64(first - 1) * Int64(pageSize)) == SQLITE_OK
    }

    func lend() {
        wasLent = true
        ownership.store(Ownership.lent, ordering: .relaxed)
    }

    /// Overwrites decrypted content.
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

    /// Decrypts a page in place if no other thread has claimed it. Returns whether it did.
    private func decrypt(_ index: Int, with codec: any PageCodec) -> Bool {
        guard claim(index) else { return false }
        let place = memory + index * pageSize
        let isAuthentic = codec.decrypt(place, page: first + UInt32(index), into: place)
        states[index].store(isAuthentic ? State.plain : State.damaged, ordering: .releasing)
        return true
    }

    /// The worker's work: decrypts pages in sequence until the end, or until the batch is recalled.
    func work(_ codec: any PageCodec) {
        for index in 0..<count where ownership.load(ordering: .relaxed) == Ownership.lent {
            _ = decrypt(index, with: codec)
        }
        // Acquire, too: the worker must not overwrite the batch before the connection's thread has finished its reads.
        let end = ownership.compareExchange(
            expected: Ownership.lent, desired: Ownership.home, ordering: .acquiringAndReleasing)
        if end.exchanged { return }
        wipe()
        ownership.store(Ownership.home, ordering: .releasing)
    }

    // MARK: - By the connection's thread

    /// Gives the pages up. The worker leaves the batch as soon as it notices, and overwrites it.
    private func recall() -> Bool {
        ownership.compareExchange(
            expected: Ownership.lent, desired: Ownership.abandoned, ordering: .acquiringAndReleasing
        ).exchanged
    }

    /// Gives the pages up. Other pages will replace them soon.
    func release() {
        _ = recall()
    }

    /// Gives the pages up and overwrites them. If the worker has them, it does so as soon as it notices.
    func abandon() {
        if !recall(), !isLent { wipe() }
    }

    /// Decrypts the first unclaimed page from an index on. Returns whether there was such a page.
    func decryptOne(from start: Int, with codec: any PageCodec) -> Bool {
        for index in start..<max(start, count) where decrypt(index, with: codec) { return true }
        return false
    }

    /// Copies a page's plaintext. Returns `false` if the page is damaged, or if the worker does not finish it in time.
    ///
    /// - Parameter meanwhile: Other work to do while the worker has the page. Returns whether there was any.
    func copyPage(
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
