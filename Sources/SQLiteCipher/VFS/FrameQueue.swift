import Foundation
import Synchronization

/// The frames of a transaction that SQLite has written to the log, and that are not yet on disk. The connection's
/// thread and a worker encrypt them together, and a single write stores them.
///
/// SQLite writes one frame after another, and computes a checksum between frames. Meanwhile the worker encrypts from
/// the first frame on. After the last frame, the connection's thread encrypts backwards from it, until the two meet. It
/// does not depend on the worker: it encrypts every frame that the worker has not begun.
///
/// `@unchecked Sendable`: two threads can access a queue, the connection's and, while it works, the worker's.
/// - Only the connection's thread accesses `first` and `count`. It also changes the states, in `add` and `clear`. The
///   worker does not read a frame that `add` writes before the frame's state is `plain`. The state is stored with
///   release and read with acquire. `clear` runs after the worker has left. The worker's last access stores that fact
///   with release, and the connection's thread reads it with acquire.
/// - A frame's bytes belong to the thread that changed its state from `plain` to `claimed`. Only one thread can,
///   because it is an atomic exchange. After the worker has left, only the connection's thread accesses the bytes.
final class FrameQueue: @unchecked Sendable {
    private enum State {
        /// The slot holds no frame yet.
        static let empty: UInt8 = 0
        static let plain: UInt8 = 1
        static let claimed: UInt8 = 2
        static let encrypted: UInt8 = 3
        static let failed: UInt8 = 4
    }

    /// The queue's owner, combined with a count of its loans. A late worker whose loan was recalled must not use a
    /// later loan: its codec may have another salt.
    private enum Ownership {
        static let home: UInt64 = 0
        /// A worker was called and has not started.
        static let lent: UInt64 = 1
        static let atWork: UInt64 = 2
        /// The worker must finish the frame that it has begun, and leave.
        static let recalled: UInt64 = 3
    }

    /// The number of times that the worker polls for the next frame before it leaves: some tens of microseconds.
    private static let patience = 20_000

    let capacity: Int
    /// The number of the first frame in the queue.
    private(set) var first = 0
    private(set) var count = 0
    private let frameSize: Int
    private let memory: UnsafeMutableRawPointer
    private let states: UnsafeMutablePointer<Atomic<UInt8>>
    private let ownership = Atomic<UInt64>(Ownership.home)
    private var timesLent: UInt64 = 0
    private let failure = Mutex<(any Error)?>(nil)
    private let generation = ForkDetector.generation

    init(capacity: Int, frameSize: Int) {
        self.capacity = capacity
        self.frameSize = frameSize
        memory = .allocate(byteCount: capacity * frameSize, alignment: 4096)
        states = .allocate(capacity: capacity)
        for index in 0..<capacity { (states + index).initialize(to: Atomic(State.empty)) }
    }

    deinit {
        // The worker's block retains the queue, so no other thread has it now.
        clear()
        memory.deallocate()
        states.deinitialize(count: capacity)
        states.deallocate()
    }

    /// Returns the address of a frame.
    func frame(_ index: Int) -> UnsafeMutableRawPointer { memory + index * frameSize }

    private func page(_ index: Int) -> UnsafeMutableRawPointer { frame(index) + LogFile.frameHeaderSize }

    // MARK: - By the connection's thread

    /// Whether a frame can be added: the queue is empty, or the frame follows the last one.
    func hasRoom(for frame: Int) -> Bool { count == 0 || count < capacity && frame == first + count }

    /// Adds a frame with a plaintext page.
    func add(_ number: Int, header: FrameHeader, page source: UnsafeRawPointer) {
        if count == 0 { first = number }
        header.store(at: frame(count))
        page(count).copyMemory(from: source, byteCount: frameSize - LogFile.frameHeaderSize)
        states[count].store(State.plain, ordering: .releasing)
        count += 1
    }

    /// Lends the queue to a worker. Returns the ticket for ``work(_:ticket:)``.
    func lend() -> UInt64 {
        timesLent += 1
        ownership.store(timesLent << 2 | Ownership.lent, ordering: .releasing)
        return timesLent
    }

    /// Takes the queue back. A worker that has not started is cancelled at once. Otherwise this waits until the worker
    /// has finished its current frame. That takes microseconds, unless the worker has lost its core.
    private func recall() {
        // This process is the child of a fork, and the worker belongs to the parent.
        if generation != ForkDetector.generation { return ownership.store(Ownership.home, ordering: .relaxed) }
        let ticket = timesLent << 2
        let wasWaiting = ownership.compareExchange(
            expected: ticket | Ownership.lent, desired: Ownership.home, ordering: .acquiringAndReleasing)
        if wasWaiting.exchanged { return }
        let wasAtWork = ownership.compareExchange(
            expected: ticket | Ownership.atWork, desired: ticket | Ownership.recalled, ordering: .acquiringAndReleasing)
        guard wasAtWork.exchanged else { return }
        while ownership.load(ordering: .acquiring) != Ownership.home { sched_yield() }
    }

    /// Encrypts every frame that the worker has not begun, and waits for the frame that it has begun.
    ///
    /// - Throws: The errors of the codec.
    func finish(with codec: any PageCodec) throws {
        var index = count - 1
        while index >= 0, encrypt(index, with: codec) { index -= 1 }
        recall()
        try failure.withLock { if let error = $0 { throw error } }
    }

    /// Removes all frames, and overwrites remaining plaintext.
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

    /// Encrypts a page in place if no other thread has claimed it. Returns whether it did.
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

    /// The worker's work: encrypts frames in sequence as they arrive, until it meets the connection's thread.
    func work(_ codec: any PageCodec, ticket: UInt64) {
        let atWork = ticket << 2 | Ownership.atWork
        let begun = ownership.compareExchange(
            expected: ticket << 2 | Ownership.lent, desired: atWork, ordering: .acquiringAndReleasing)
        guard begun.exchanged else { return }
        var index = 0
        var looks = 0
        while index < capacity, looks < Self.patience, ownership.load(ordering: .relaxed) == atWork {
            if encrypt(index, with: codec) {
                index += 1
                looks = 0
            } else if states[index].load(ordering: .relaxed) == State.empty {
                looks += 1
            } else {
                break
            }
        }
        ownership.store(Ownership.home, ordering: .releasing)
    }
}
