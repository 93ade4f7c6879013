import Dispatch
import Synchronization
import TandemTesting

/// An executor that runs all tasks of a history on one thread, one at a time. The seed decides which ready task
/// continues.
///
/// So a seed gives one history, however many requests are in flight, unless another thread wakes a task. Such wake-ups
/// are counted.
final class SimExecutor: TaskExecutor {
    private struct State {
        var ready: [UnownedJob] = []
        var random: SeededGenerator
        var isRunning = false
        var strays = 0
    }

    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "tandem.simulation")
    private static let current = DispatchSpecificKey<ObjectIdentifier>()

    private init(seed: UInt64) {
        state = Mutex(State(random: SeededGenerator(seed: seed ^ 0x5EED)))
        queue.setSpecific(key: Self.current, value: ObjectIdentifier(self))
    }

    /// Runs a body, and all tasks that it starts.
    ///
    /// - Returns: The body's result, and the number of wake-ups from other threads. Such a wake-up makes the order of
    ///   steps independent of the seed.
    static func run<T: Sendable>(
        seed: UInt64, _ body: @escaping @Sendable (SimExecutor) async throws -> T
    ) async throws -> (T, strays: Int) {
        let executor = SimExecutor(seed: seed)
        let value = try await Task(executorPreference: executor) { try await body(executor) }.value
        return (value, executor.state.withLock { $0.strays })
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isStray = DispatchQueue.getSpecific(key: Self.current) != ObjectIdentifier(self)
        let starts = state.withLock { state in
            state.ready.append(job)
            // The first wake-up comes from the caller that started the history.
            if isStray { state.strays += 1 }
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { queue.async { self.drain() } }
    }

    private func drain() {
        while let job = takeNext() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func takeNext() -> UnownedJob? {
        state.withLock { state in
            guard !state.ready.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.ready.remove(at: Int(state.random.next() % UInt64(state.ready.count)))
        }
    }
}
