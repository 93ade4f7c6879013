import Testing

/// Runs tests on threads of their own instead of the cooperative pool, so that they may block.
///
/// The cooperative pool has as many threads as the machine has cores. A test can block one of them by a semaphore, a
/// child process, or a store's lock. It then starves the code under test and all other tests.
public struct OwnThreads: TestTrait, SuiteTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadExecutor.shared) { try await function() }
    }
}

extension Trait where Self == OwnThreads {
    /// Runs the tests on threads of their own, so that they may block.
    public static var ownThreads: Self { OwnThreads() }
}

/// Records an issue unless the caller may block its thread.
///
/// Each helper that waits for a process, a semaphore or a condition calls this first.
public func expectBlockingAllowed(
    fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column
) {
    guard !ThreadExecutor.mayBlock else { return }
    Issue.record(
        "This test blocks the cooperative pool. Add `.ownThreads` to its suite.",
        sourceLocation: SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column))
}

/// Runs a function in a task of its own, on threads of its own: a server that is not cancelled with its client.
public func onOwnThreads<Success: Sendable>(_ body: @escaping @Sendable () async -> Success) async -> Success {
    await Task(executorPreference: ThreadExecutor.shared) { await body() }.value
}
