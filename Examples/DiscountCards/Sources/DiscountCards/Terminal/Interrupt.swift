import Foundation
import Synchronization

/// The handling of Ctrl-C and of a closed output (`cards demo | head`) in a long task. The task throws an error, so
/// that its transaction is rolled back and its temporary files are removed. A second Ctrl-C ends the program at once.
enum Interrupt {
    private static let isRequested = Atomic(false)
    /// The handle of the bell to ring, or -1.
    private static let bell = Atomic<Int32>(-1)

    /// Runs a task that calls ``check()`` repeatedly.
    static func guarded<Value>(_ task: () throws -> Value) throws -> Value {
        let previous = listen()
        defer { previous.restore() }
        return try task()
    }

    /// Runs an asynchronous task that calls ``check()`` repeatedly.
    static func guarded<Value>(_ task: () async throws -> Value) async throws -> Value {
        let previous = listen()
        defer { previous.restore() }
        return try await task()
    }

    /// The previous signal handlers.
    private struct Handlers {
        let interrupt: (@convention(c) (Int32) -> Void)?
        let pipe: (@convention(c) (Int32) -> Void)?

        func restore() {
            signal(SIGINT, interrupt)
            signal(SIGPIPE, pipe)
        }
    }

    private static func listen() -> Handlers {
        let interrupt = signal(SIGINT) { _ in
            // A signal handler may use an atomic and `_exit`, but not much more.
            if Interrupt.isRequested.exchange(true, ordering: .relaxed) { _exit(Failure.Status.interrupted.rawValue) }
        }
        return Handlers(interrupt: interrupt, pipe: signal(SIGPIPE, SIG_IGN))
    }

    /// Runs a task that waits for a bell. Ctrl-C rings the bell, which ends the task without an error.
    static func ringing(_ bell: Bell, _ task: () -> Void) {
        self.bell.store(bell.handle, ordering: .sequentiallyConsistent)
        let previous = signal(SIGINT) { _ in Interrupt.ring() }
        let previousPipe = signal(SIGPIPE, SIG_IGN)
        defer {
            signal(SIGINT, previous)
            signal(SIGPIPE, previousPipe)
            self.bell.store(-1, ordering: .sequentiallyConsistent)
        }
        task()
    }

    private static func ring() {
        let handle = bell.load(ordering: .sequentiallyConsistent)
        if handle >= 0 { Bell.ring(handle) }
    }

    /// Records that the output's reader has ended.
    static func outputHasEnded() {
        isRequested.store(true, ordering: .relaxed)
        ring()
    }

    /// Throws after Ctrl-C.
    ///
    /// - Parameter outcome: A sentence about the task's outcome for the user.
    static func check(outcome: String? = nil) throws {
        guard !isRequested.load(ordering: .relaxed) else {
            throw Failure(.interrupted, message: "Interrupted.", advice: outcome)
        }
    }
}
