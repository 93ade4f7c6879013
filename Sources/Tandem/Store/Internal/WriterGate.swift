import Dispatch
import Synchronization

/// Lets one writer of a `Store` in at a time, in the order in which they came, and none wait longer than a stated time.
///
/// SQLite's own wait concerns other connections only: writers that share one would wait in its queue for ever.
///
/// A task that is let in needs a thread to come on. Where all of those that tasks run on are blocked by writers that wait
/// here, there is none before one of them gets in: so a task that does not come in time is overtaken by a blocked thread,
/// and is the next one then.
final class WriterGate: Sendable {
    /// Whoever waits: a thread that is blocked, or a task that is suspended.
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

        /// Ends the wait; `false` if it had ended before.
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

        /// Blocks the thread until the wait ends, or a deadline has passed; `false` then.
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
        /// Whether somebody is inside, or has been let in.
        var isTaken = false
        /// The task that has been let in and has not come yet, and since when.
        var invited: (waiter: Waiter, since: DispatchTime)?
        var waiters: [Waiter] = []
    }

    /// How long a task that has been let in is waited for, in seconds.
    private static let patience = 0.02

    private let state = Mutex(State())
    private let timeout: Double
    private let path: String

    /// - Parameter timeout: How long a writer waits, in seconds.
    init(timeout: Double, path: String) {
        self.timeout = max(0, timeout)
        self.path = path
    }

    /// How many wait.
    var countOfWaiters: Int { state.withLock { $0.waiters.count } }

    /// Takes the gate, or joins those who wait for it: as the last, or as the first.
    private func enter(asTask isTask: Bool, first: Bool = false) -> Waiter? {
        state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let waiter = Waiter(isTask: isTask)
            state.waiters.insert(waiter, at: first ? 0 : state.waiters.count)
            return waiter
        }
    }

    /// Lets the next one in.
    private func leave() {
        while true {
            let next: Waiter? = state.withLock { state in
                if state.waiters.isEmpty {
                    state.isTaken = false
                    return nil
                }
                let next = state.waiters.removeFirst()
                // Before it is told, so that it finds its invitation.
                if next.isTask { state.invited = (next, .now()) }
                return next
            }
            guard let next, !next.end() else { return }
            // Who has given up waiting does not take the gate. Has somebody overtaken it already, that one is inside.
            guard !next.isTask || accept(next) else { return }
        }
    }

    /// Ends a task's invitation; `false` if it was overtaken.
    private func accept(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            guard state.invited?.waiter === waiter else { return false }
            state.invited = nil
            return true
        }
    }

    /// Lets a blocked thread in, in place of a task that does not come.
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
            .busy, "The store is being written by another thread of this process.",
            advice: "Try again; if it lasts, raise Configuration.busyTimeout or find the write that does not end.",
            store: path)
    }

    /// Runs a block when no other writer is inside.
    func pass<T>(_ body: () throws -> T) throws -> T {
        if let waiter = enter(asTask: false) { try block(waiter) }
        defer { leave() }
        return try body()
    }

    private func block(_ waiter: Waiter) throws {
        let deadline = DispatchTime.now() + timeout
        while try !waiter.block(until: min(deadline, .now() + Self.patience)) {
            if overtake(waiter) { return }
            guard deadline <= .now() else { continue }
            if waiter.end(with: busy) { throw busy }
            // It was let in just now.
            return
        }
    }

    /// A writer's stay inside.
    final class Stay: Sendable {
        private let gate: WriterGate
        private let isOver = Atomic<Bool>(false)

        init(_ gate: WriterGate) { self.gate = gate }

        /// Lets the next one in, at the first call.
        func end() {
            if isOver.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged { gate.leave() }
        }
    }

    /// Runs a block when no other writer is inside, without blocking a thread meanwhile.
    ///
    /// The block ends its stay where the writing ends: to come back here it may need a thread that waits to write.
    func pass<T>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Stay) async throws -> T
    ) async throws -> T {
        var next = enter(asTask: true)
        let deadline = DispatchTime.now() + timeout
        while let waiter = next {
            let busy = busy
            DispatchQueue.global().asyncAfter(deadline: deadline) { _ = waiter.end(with: busy) }
            try await withTaskCancellationHandler {
                try await waiter.suspend()
            } onCancel: {
                _ = waiter.end(with: CancellationError())
            }
            next = accept(waiter) ? nil : enter(asTask: true, first: true)
        }
        let stay = Stay(self)
        defer { stay.end() }
        return try await body(stay)
    }
}
