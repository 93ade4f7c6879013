import Dispatch
import Synchronization

/// A pool of a store's reading connections, which are created on demand.
///
/// A connection is lent to a single thread at a time. If all are lent, callers wait for the next returned one, in the
/// order of their requests.
final class ReaderPool: Sendable {
    /// A lent connection.
    ///
    /// Proof of `@unchecked Sendable`: a connection is not safe for two threads at a time, and the pool lends it to
    /// only one. The pool's lock orders the accesses of successive borrowers.
    struct Reader: @unchecked Sendable {
        let connection: Connection
    }

    /// The result delivered to a waiting reader.
    private enum WaitResult: Sendable {
        case reader(Reader)
        /// The pool has room for another reader: create it.
        case make
        /// Creating another reader failed, so there is room to create one.
        case tryAgain
        case closed
        case cancelled
    }

    private enum Waiter: Sendable {
        case thread(ThreadWaiter)
        case task(UInt64, continuation: CheckedContinuation<WaitResult, Never>)

        func resume(_ result: WaitResult) {
            switch self {
            case .thread(let waiter):
                waiter.result.withLock { $0 = result }
                waiter.semaphore.signal()
            case .task(_, let continuation): continuation.resume(returning: result)
            }
        }
    }

    /// A thread that waits for a reader.
    private final class ThreadWaiter: Sendable {
        let semaphore = DispatchSemaphore(value: 0)
        let result = Mutex(WaitResult.closed)
    }

    private struct State {
        var idle: [Reader] = []
        var count = 0
        var waiters: [Waiter] = []
        var nextTask: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let maximum: Int
    private let path: String
    private let make: @Sendable () throws -> Reader

    init(maximum: Int, path: String, make: @escaping @Sendable () throws -> Reader) {
        self.maximum = max(1, maximum)
        self.path = path
        self.make = make
    }

    /// The number of created readers, and of waiting callers.
    var made: Int { state.withLock { $0.count } }
    var waiting: Int { state.withLock { $0.waiters.count } }

    private enum Turn {
        case idle(Reader)
        case make
        case wait
    }

    private var closedError: TandemError { TandemError(.closed, message: "The store is closed.", store: path) }

    private func turn(_ state: inout State, waiter: Waiter) throws -> Turn {
        if state.isClosed { throw closedError }
        if let reader = state.idle.popLast() { return .idle(reader) }
        if state.count < maximum {
            state.count += 1
            return .make
        }
        state.waiters.append(waiter)
        return .wait
    }

    private func makeReader() throws -> Reader {
        do {
            return try make()
        } catch {
            let next: Waiter? = state.withLock { state in
                state.count -= 1
                return state.waiters.isEmpty ? nil : state.waiters.removeFirst()
            }
            next?.resume(.tryAgain)
            throw error
        }
    }

    /// Borrows a reader, and waits for one if necessary.
    func borrow() throws -> Reader {
        while true {
            let waiter = ThreadWaiter()
            switch try state.withLock({ try turn(&$0, waiter: .thread(waiter)) }) {
            case .idle(let reader): return reader
            case .make: return try makeReader()
            case .wait:
                // Asynchronous readers run on a pool with few threads. So the holder of a reader may need this thread
                // to return the reader. Avoid a deadlock by creating a reader beyond the maximum.
                if waiter.semaphore.wait(timeout: .now() + Self.patience) == .timedOut {
                    if abandon(waiter) { return try borrowForWalk() }
                    waiter.semaphore.wait()
                }
            }
            switch waiter.result.withLock({ $0 }) {
            case .reader(let reader): return reader
            case .make, .tryAgain: continue
            case .closed, .cancelled: throw closedError
            }
        }
    }

    /// Borrows a reader without blocking a thread.
    ///
    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    func borrow() async throws -> Reader {
        while true {
            let task = state.withLock { state in
                state.nextTask += 1
                return state.nextTask
            }
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { wait(as: task, continuation: $0) }
            } onCancel: {
                cancel(task)
            }
            switch result {
            case .reader(let reader): return reader
            case .make: return try makeReader()
            case .tryAgain: continue
            case .closed: throw closedError
            case .cancelled: throw CancellationError()
            }
        }
    }

    /// The time that a thread waits for a pooled reader, in seconds.
    private static let patience = 0.25

    /// Stops a thread's wait. Returns `false` if a result was already delivered.
    private func abandon(_ waiter: ThreadWaiter) -> Bool {
        state.withLock { state in
            let index = state.waiters.firstIndex { if case .thread(let other) = $0 { other === waiter } else { false } }
            guard let index else { return false }
            state.waiters.remove(at: index)
            return true
        }
    }

    private func wait(as task: UInt64, continuation: CheckedContinuation<WaitResult, Never>) {
        let turn = state.withLock { state in
            Result { try self.turn(&state, waiter: .task(task, continuation: continuation)) }
        }
        switch turn {
        case .success(.idle(let reader)): continuation.resume(returning: .reader(reader))
        case .success(.make): continuation.resume(returning: .make)
        // A task that was cancelled before it was in the queue was not found there.
        case .success(.wait): if Task.isCancelled { cancel(task) }
        case .failure: continuation.resume(returning: .closed)
        }
    }

    private func cancel(_ task: UInt64) {
        let waiter: Waiter? = state.withLock { state in
            let index = state.waiters.firstIndex { if case .task(task, _) = $0 { true } else { false } }
            return index.map { state.waiters.remove(at: $0) }
        }
        waiter?.resume(.cancelled)
    }

    /// Borrows a reader for an iteration. May exceed the maximum: the caller may hold another reader meanwhile, and
    /// must not wait for another iteration to end.
    func borrowForWalk() throws -> Reader {
        let idle: Reader? = try state.withLock { state in
            if state.isClosed { throw TandemError(.closed, message: "The store is closed.", store: path) }
            if let reader = state.idle.popLast() { return reader }
            state.count += 1
            return nil
        }
        return try idle ?? makeReader()
    }

    /// Returns a reader to the pool.
    ///
    /// - Returns: `false` if the pool was closed in the meantime, or the reader exceeds the maximum. The caller must
    ///   then close it.
    func giveBack(_ reader: Reader) -> Bool {
        let (isTaken, waiter): (Bool, Waiter?) = state.withLock { state in
            if state.isClosed { return (false, nil) }
            if !state.waiters.isEmpty { return (true, state.waiters.removeFirst()) }
            if state.count > maximum {
                state.count -= 1
                return (false, nil)
            }
            state.idle.append(reader)
            return (true, nil)
        }
        waiter?.resume(.reader(reader))
        return isTaken
    }

    /// Refuses new borrowers, and returns the readers that are not lent.
    func close() -> [Reader] {
        let (readers, waiters) = state.withLock { state in
            defer {
                state.idle = []
                state.waiters = []
                state.isClosed = true
            }
            return (state.idle, state.waiters)
        }
        for waiter in waiters { waiter.resume(.closed) }
        return readers
    }
}
