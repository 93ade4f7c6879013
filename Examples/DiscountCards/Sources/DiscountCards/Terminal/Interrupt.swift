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
        let previous = signal(SIGINT) { _ in
            // Only what may be called in a signal handler: an atomic, and `_exit`.
            if Interrupt.isRequested.exchange(true, ordering: .relaxed) { _exit(Failure.Status.interrupted.rawValue) }
        }
        let previousPipe = signal(SIGPIPE, SIG_IGN)
        defer {
            signal(SIGINT, previous)
            signal(SIGPIPE, previousPipe)
        }
        return try task()
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
