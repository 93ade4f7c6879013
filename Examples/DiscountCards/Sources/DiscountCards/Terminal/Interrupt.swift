import Foundation
import Synchronization

/// Ctrl-C in the midst of a long task, or the end of who reads its output (`cards demo | head`): the task ends by an
/// error, so that its transaction is rolled back and its temporary files are removed. A second Ctrl-C ends the program
/// at once.
enum Interrupt {
    private static let isRequested = Atomic(false)
    /// The handle of the bell to be rung as well, or -1.
    private static let bell = Atomic<Int32>(-1)

    /// Runs a task that calls ``check()`` again and again.
    static func guarded<Value>(_ task: () throws -> Value) throws -> Value {
        let previous = listen()
        defer { previous.restore() }
        return try task()
    }

    /// Runs an asynchronous task that calls ``check()`` again and again.
    static func guarded<Value>(_ task: () async throws -> Value) async throws -> Value {
        let previous = listen()
        defer { previous.restore() }
        return try await task()
    }

    /// What was done about the signals before.
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
            // Only what may be called in a signal handler: an atomic, and `_exit`.
            if Interrupt.isRequested.exchange(true, ordering: .relaxed) { _exit(Failure.Status.interrupted.rawValue) }
        }
        return Handlers(interrupt: interrupt, pipe: signal(SIGPIPE, SIG_IGN))
    }

    /// Runs a task that waits for a bell: it rings at Ctrl-C, which is how the task ends, and no error.
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

    /// Says that nobody reads the output any more.
    static func outputHasEnded() {
        isRequested.store(true, ordering: .relaxed)
        ring()
    }

    /// Throws once Ctrl-C has been pressed.
    ///
    /// - Parameter outcome: What the person is told of what has become of the task.
    static func check(outcome: String? = nil) throws {
        guard !isRequested.load(ordering: .relaxed) else {
            throw Failure(.interrupted, "Interrupted.", advice: outcome)
        }
    }
}
