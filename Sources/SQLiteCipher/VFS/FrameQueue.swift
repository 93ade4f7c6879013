import Foundation
import Synchronization

/// The frames of a transaction that SQLite has written to the log and that are not on the disk yet: the connection's
/// thread and a helper encrypt them between them, and they are written in one go.
///
/// SQLite hands over one frame after another, and computes a checksum of each in between. The helper begins with the
/// first while they come; when the last is there, the connection's thread begins with that, until the two meet. It does
/// not depend on the helper: what the helper has not begun it encrypts itself.
///
/// `@unchecked Sendable`: two threads can have a queue, the connection's and, while it works, the helper's.
/// - `first` and `count` are the connection's thread's alone. The states are changed by it too: by `add`, of a frame that
///   the helper does not look at before its state is `plain` (stored releasing, read acquiring), and by `clear`, when the
///   helper has left (its last access is to store that it did, releasing; the connection's thread reads that acquiring).
/// - A frame's bytes belong to whoever turned its state from `plain` to `claimed`, and only one can: it is an atomic
///   exchange. When the helper has left, the connection's thread alone has them.
final class FrameQueue: @unchecked Sendable {
    private enum State {
        /// Nothing is here yet.
        static let empty: UInt8 = 0
        static let plain: UInt8 = 1
        static let claimed: UInt8 = 2
        static let encrypted: UInt8 = 3
        static let failed: UInt8 = 4
    }

    /// Where the queue is, beside the number of the time that it was lent: a helper that comes late, when it was
    /// recalled and lent again, must not take it for its own, with a codec that may be another salt's.
    private enum Place {
        static let home: UInt64 = 0
        /// A helper was called, and has not come.
        static let lent: UInt64 = 1
        static let atWork: UInt64 = 2
        /// The helper is to end what it has begun, and leave.
        static let recalled: UInt64 = 3
    }

    /// How often the helper looks for a frame that has not come yet before it leaves: some tens of microseconds.
    private static let patience = 20_000

    let capacity: Int
    /// The frame that is first in the queue.
    private(set) var first = 0
    private(set) var count = 0
    private let frameSize: Int
    private let memory: UnsafeMutableRawPointer
    private let states: UnsafeMutablePointer<Atomic<UInt8>>
    private let place = Atomic<UInt64>(Place.home)
    private var timesLent: UInt64 = 0
    private let failure = Mutex<(any Error)?>(nil)
    private let generation = Fork.generation

    init(capacity: Int, frameSize: Int) {
        self.capacity = capacity
        self.frameSize = frameSize
        memory = .allocate(byteCount: capacity * frameSize, alignment: 4096)
        states = .allocate(capacity: capacity)
        for index in 0..<capacity { (states + index).initialize(to: Atomic(State.empty)) }
    }

    deinit {
        // The helper's block holds the queue: nobody else has it now.
        clear()
        memory.deallocate()
        states.deinitialize(count: capacity)
        states.deallocate()
    }

    /// Where a frame stands.
    func frame(_ index: Int) -> UnsafeMutableRawPointer { memory + index * frameSize }

    private func page(_ index: Int) -> UnsafeMutableRawPointer { frame(index) + LogFile.frameHeaderSize }

    // MARK: - By the connection's thread

    /// Whether a frame can be added: it is the one after the last, or the first of all.
    func hasRoom(for frame: Int) -> Bool { count == 0 || count < capacity && frame == first + count }

    /// Adds a frame, whose page is plaintext.
    func add(_ number: Int, _ header: FrameHeader, page source: UnsafeRawPointer) {
        if count == 0 { first = number }
        header.store(at: frame(count))
        page(count).copyMemory(from: source, byteCount: frameSize - LogFile.frameHeaderSize)
        states[count].store(State.plain, ordering: .releasing)
        count += 1
    }

    /// Lets a helper begin, and gives what it must show to ``work(_:ticket:)``.
    func lend() -> UInt64 {
        timesLent += 1
        place.store(timesLent << 2 | Place.lent, ordering: .releasing)
        return timesLent
    }

    /// Takes the queue back: at once from a helper that has not come, else when it has ended the frame that it is at,
    /// which is microseconds, unless it has lost its core.
    private func recall() {
        // The process is the child of a fork, and the helper the parent's.
        if generation != Fork.generation { return place.store(Place.home, ordering: .relaxed) }
        let ticket = timesLent << 2
        let wasWaiting = place.compareExchange(
            expected: ticket | Place.lent, desired: Place.home, ordering: .acquiringAndReleasing)
        if wasWaiting.exchanged { return }
        let wasAtWork = place.compareExchange(
            expected: ticket | Place.atWork, desired: ticket | Place.recalled, ordering: .acquiringAndReleasing)
        guard wasAtWork.exchanged else { return }
        while place.load(ordering: .acquiring) != Place.home { sched_yield() }
    }

    /// Encrypts all that the helper has not begun, and waits for what it has.
    ///
    /// - Throws: What the codec throws.
    func finish(with codec: any PageCodec) throws {
        var index = count - 1
        while index >= 0, encrypt(index, with: codec) { index -= 1 }
        recall()
        try failure.withLock { if let error = $0 { throw error } }
    }

    /// Forgets all frames; what is still plaintext is overwritten.
    func clear() {
        recall()
        failure.withLock { $0 = nil }
        for index in 0..<count {
            if states[index].load(ordering: .relaxed) != State.encrypted {
                UnsafeMutableRawBufferPointer(start: frame(index), count: frameSize).wipe()
            }
            states[index].store(State.empty, ordering: .relaxed)
        }
        count = 0
    }

    // MARK: - By both

    /// Encrypts a page in its place if nobody else has begun to, and tells whether it did.
    private func encrypt(_ index: Int, with codec: any PageCodec) -> Bool {
        let claim = states[index].compareExchange(
            expected: State.plain, desired: State.claimed, ordering: .acquiring)
        guard claim.exchanged else { return false }
        do {
            try codec.encrypt(page(index), page: FrameHeader(frame(index)).page, into: page(index))
            states[index].store(State.encrypted, ordering: .releasing)
        } catch {
            failure.withLock { $0 = $0 ?? error }
            states[index].store(State.failed, ordering: .releasing)
        }
        return true
    }

    /// What the helper does: encrypts frame after frame as they come, until it meets the connection's thread.
    func work(_ codec: any PageCodec, ticket: UInt64) {
        let atWork = ticket << 2 | Place.atWork
        let begun = place.compareExchange(
            expected: ticket << 2 | Place.lent, desired: atWork, ordering: .acquiringAndReleasing)
        guard begun.exchanged else { return }
        var index = 0
        var looks = 0
        while index < capacity, looks < Self.patience, place.load(ordering: .relaxed) == atWork {
            if encrypt(index, with: codec) {
                index += 1
                looks = 0
            } else if states[index].load(ordering: .relaxed) == State.empty {
                looks += 1
            } else {
                break
            }
        }
        place.store(Place.home, ordering: .releasing)
    }
}
