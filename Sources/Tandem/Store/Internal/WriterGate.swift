import Dispatch
import Synchronization

/// Lets one writer of a `Store` in at a time, in the order in which they came, and none wait longer than a stated time.
///
/// SQLite's own wait concerns other connections only: writers that share one would wait in its queue for ever.
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
        private let state = Mutex(State())
        private let semaphore = DispatchSemaphore(value: 0)

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
        var isTaken = false
        var waiters: [Waiter] = []
    }

    private let state = Mutex(State())
    private let timeout: Double
    private let path: String

    /// - Parameter timeout: How long a writer waits, in seconds.
    init(timeout: Double, path: String) {
        self.timeout = max(0, timeout)
        self.path = path
    }

    /// Takes the gate, or joins those who wait for it.
    private func enter() -> Waiter? {
        state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            let waiter = Waiter()
            state.waiters.append(waiter)
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
                return state.waiters.removeFirst()
            }
            // Who has given up waiting does not take the gate.
            guard let next, !next.end() else { return }
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
        if let waiter = enter() {
            if try !waiter.block(until: .now() + timeout), waiter.end(with: busy) { throw busy }
        }
        defer { leave() }
        return try body()
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
        if let waiter = enter() {
            let busy = busy
            DispatchQueue.global().asyncAfter(deadline: .now() + timeout) { _ = waiter.end(with: busy) }
            try await withTaskCancellationHandler {
                try await waiter.suspend()
            } onCancel: {
                _ = waiter.end(with: CancellationError())
            }
        }
        let stay = Stay(self)
        defer { stay.end() }
        return try await body(stay)
    }
}
