import Dispatch
import Synchronization

/// A queue that admits a `Store`'s writers one at a time, in the order of their requests.
///
/// Each writer waits within its own time limit.
///
/// SQLite's own wait applies only to other connections: writers that share a connection would wait in its queue without
/// limit.
///
/// An admitted task needs a thread to run on. If waiting writers block all threads of tasks, no thread is free before
/// one of the writers is admitted. Therefore a blocked thread overtakes a task that does not start in time. The task is
/// then the next in the queue.
final class WriterQueue: Sendable {
    /// A waiting writer: a blocked thread, or a suspended task.
    private final class Waiter: Sendable {
        private enum Outcome {
            case waiting
            case admitted
            case refused(any Error)
        }
        private struct State {
            var outcome = Outcome.waiting
            var continuation: CheckedContinuation<Void, any Error>?
        }
        let isTask: Bool
        private let state = Mutex(State())
        private let semaphore = DispatchSemaphore(value: 0)

        init(isTask: Bool) { self.isTask = isTask }

        /// Ends the wait. Returns `false` if it had already ended.
        func end(with error: (any Error)? = nil) -> Bool {
            let (isFirst, continuation) = state.withLock { state in
                guard case .waiting = state.outcome else {
                    return (false, nil as CheckedContinuation<Void, any Error>?)
                }
                state.outcome = error.map { .refused($0) } ?? .admitted
                defer { state.continuation = nil }
                return (true, state.continuation)
            }
            guard isFirst else { return false }
            if let continuation {
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            } else {
                semaphore.signal()
            }
            return true
        }

        /// Blocks the thread until the wait ends. Returns `false` if a deadline passes first.
        func block(until deadline: DispatchTime) throws -> Bool {
            if semaphore.wait(timeout: deadline) == .timedOut { return false }
            if case .refused(let error) = state.withLock({ $0.outcome }) { throw error }
            return true
        }

        /// Suspends the task until the wait ends.
        func suspend() async throws {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let outcome = state.withLock { state in
                    if case .waiting = state.outcome { state.continuation = continuation }
                    return state.outcome
                }
                switch outcome {
                case .waiting: break
                case .admitted: continuation.resume()
                case .refused(let error): continuation.resume(throwing: error)
                }
            }
        }
    }

    private struct State {
        /// Whether a writer is inside, or has been admitted.
        var isLocked = false
        /// The task that has been admitted and has not started yet, and the time of its admission.
        var invited: (waiter: Waiter, since: DispatchTime)?
        var waiters: [Waiter] = []
    }

    /// The time to wait for an admitted task, in seconds.
    private static let patience = 0.02

    private let state = Mutex(State())
    private let timeout: Double
    private let path: String

    /// - Parameter timeout: The time that a writer waits, in seconds.
    init(timeout: Double, path: String) {
        self.timeout = max(0, timeout)
        self.path = path
    }

    /// The number of waiting writers.
    var countOfWaiters: Int { state.withLock { $0.waiters.count } }

    /// Enters, or joins the queue as the last or as the first.
    private func acquire(asTask isTask: Bool, first: Bool = false) -> Waiter? {
        state.withLock { state in
            guard state.isLocked else {
                state.isLocked = true
                return nil
            }
            let waiter = Waiter(isTask: isTask)
            state.waiters.insert(waiter, at: first ? 0 : state.waiters.count)
            return waiter
        }
    }

    /// Admits the next writer.
    private func release() {
        while true {
            let next: Waiter? = state.withLock { state in
                if state.waiters.isEmpty {
                    state.isLocked = false
                    return nil
                }
                let next = state.waiters.removeFirst()
                // Set the invitation before the task is resumed, so that it finds it.
                if next.isTask { state.invited = (next, .now()) }
                return next
            }
            guard let next, !next.end() else { return }
            // A writer that has given up does not enter. If another writer has already overtaken it, that writer is
            // inside.
            guard !next.isTask || accept(next) else { return }
        }
    }

    /// Ends a task's invitation. Returns `false` if it was overtaken.
    private func accept(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            guard state.invited?.waiter === waiter else { return false }
            state.invited = nil
            return true
        }
    }

    /// Admits a blocked thread in place of a task that does not start.
    private func overtake(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            guard let since = state.invited?.since, since + Self.patience <= .now(),
                let index = state.waiters.firstIndex(where: { $0 === waiter })
            else { return false }
            state.waiters.remove(at: index)
            state.invited = nil
            return true
        }
    }

    private var busy: TandemError {
        TandemError(
            .busy, message: "The store is being written by another thread of this process.",
            advice:
                "Try again. If it persists, increase Configuration.busyTimeout or find the write that does not finish.",
            store: path)
    }

    /// Runs a block while no other writer is inside.
    func pass<T>(_ body: () throws -> T) throws -> T {
        if let waiter = acquire(asTask: false) { try block(waiter) }
        defer { release() }
        return try body()
    }

    private func block(_ waiter: Waiter) throws {
        let deadline = DispatchTime.now() + timeout
        while try !waiter.block(until: min(deadline, .now() + Self.patience)) {
            if overtake(waiter) { return }
            guard deadline <= .now() else { continue }
            if waiter.end(with: busy) { throw busy }
            // It was admitted in the meantime.
            return
        }
    }

    /// A writer's admission to the queue's protected section.
    final class Admission: Sendable {
        private let queue: WriterQueue
        private let isOver = Atomic<Bool>(false)

        init(_ queue: WriterQueue) { self.queue = queue }

        /// Admits the next writer, at the first call.
        func end() {
            if isOver.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged { queue.release() }
        }
    }

    /// Runs a block while no other writer is inside, without blocking a thread.
    ///
    /// The block leaves the queue itself when it has finished writing. Its return may need a thread that is waiting to
    /// write.
    func pass<T>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Admission) async throws -> T
    ) async throws -> T {
        var next = acquire(asTask: true)
        let deadline = DispatchTime.now() + timeout
        while let waiter = next {
            let busy = busy
            DispatchQueue.global().asyncAfter(deadline: deadline) { _ = waiter.end(with: busy) }
            try await withTaskCancellationHandler {
                try await waiter.suspend()
            } onCancel: {
                _ = waiter.end(with: CancellationError())
            }
            next = accept(waiter) ? nil : acquire(asTask: true, first: true)
        }
        let stay = Admission(self)
        defer { stay.end() }
        return try await body(stay)
    }
}
