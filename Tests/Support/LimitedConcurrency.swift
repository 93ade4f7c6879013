import Synchronization
import Testing

/// Limits how many test cases that use an expensive resource run at the same time.
public struct LimitedConcurrency: TestTrait, SuiteTrait, TestScoping {
    private let permits: AsyncPermits
    /// Whether this test case holds a permit already: a suite and its test may both ask for one.
    @TaskLocal private static var isHeld = false

    fileprivate init(_ permits: AsyncPermits) { self.permits = permits }

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard !Self.isHeld else { return try await function() }
        await permits.acquire()
        defer { permits.release() }
        try await Self.$isHeld.withValue(true) { try await function() }
    }
}

extension Trait where Self == LimitedConcurrency {
    /// Runs at most two such test cases at the same time: they start processes, open sockets or measure memory.
    public static var startsProcesses: Self { LimitedConcurrency(processPermits) }
}

private let processPermits = AsyncPermits(2)

/// A semaphore whose waiters suspend, first come, first served.
private final class AsyncPermits: Sendable {
    private struct State {
        var available: Int
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(_ count: Int) { state = Mutex(State(available: count)) }

    func acquire() async {
        await withCheckedContinuation { continuation in
            let isAvailable = state.withLock { state in
                guard state.available > 0 else {
                    state.waiters.append(continuation)
                    return false
                }
                state.available -= 1
                return true
            }
            if isAvailable { continuation.resume() }
        }
    }

    func release() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.available += 1
            return nil
        }
        next?.resume()
    }
}
