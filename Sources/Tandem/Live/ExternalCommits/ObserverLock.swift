import Dispatch
import Foundation
import Synchronization

/// A lock that shows other stores that this store observes their commits. The system releases it when the process dies.
///
/// It is a shared lock on the first byte of the log file, which SQLite does not lock. It is a lock of an open file
/// description (`F_OFD_SETLK`). Unlike ordinary locks of a process, such locks also count between stores of one
/// process. They also survive if SQLite closes the log. The log file exists as long as a store is open.
///
/// The lock saves work and proves nothing: if a writer does not see it, its commit is not recorded, and the observer
/// reads again.
final class ObserverLock: Sendable {
    private struct State {
        var descriptor: Int32 = -1
        var isClosed = false
        /// The result of the last check, and its time in nanoseconds.
        var wasHeldElsewhere = false
        var checkedAt: UInt64 = 0
    }

    private let path: String
    private let state = Mutex(State())

    /// - Parameter path: The path of the log file.
    init(path: String) { self.path = path }

    deinit { close() }

    /// Acquires the lock. If the system has no such locks, this does nothing.
    func hold() { withDescriptor { _ = Self.control($0, command: Self.set, type: Int16(F_RDLCK)) } }

    /// Releases the lock.
    func release() { withDescriptor { _ = Self.control($0, command: Self.set, type: Int16(F_UNLCK)) } }

    /// Whether another store, in this process or another, observes commits. It costs a system call.
    var isHeldElsewhere: Bool {
        withDescriptor { descriptor in
            let found = Self.control(descriptor, command: Self.get, type: Int16(F_WRLCK))
            return found.map { $0 != Int16(F_UNLCK) } ?? false
        } ?? false
    }

    /// Returns whether another store observes commits, from a check that is at most some time old. A busy writer thus
    /// makes few system calls.
    func isHeldElsewhere(within nanoseconds: UInt64) -> Bool {
        let now = DispatchTime.now().uptimeNanoseconds
        let known: Bool? = state.withLock { state in
            state.checkedAt > 0 && now < state.checkedAt + nanoseconds ? state.wasHeldElsewhere : nil
        }
        if let known { return known }
        let isHeld = isHeldElsewhere
        state.withLock { state in
            state.wasHeldElsewhere = isHeld
            state.checkedAt = now
        }
        return isHeld
    }

    /// Releases the lock and the file. After that no other lock is seen.
    func close() {
        state.withLock { state in
            if state.descriptor >= 0 {
                // Closing the file is not enough: a child process that is being started has it open too.
                _ = Self.control(state.descriptor, command: Self.set, type: Int16(F_UNLCK))
                Foundation.close(state.descriptor)
            }
            state = State(isClosed: true)
        }
    }

    /// Runs a block with a descriptor of the log file. Returns `nil` if the file can't be opened.
    @discardableResult
    func withDescriptor<T>(_ body: (Int32) -> T) -> T? {
        state.withLock { state in
            if state.descriptor < 0, !state.isClosed { state.descriptor = open(path, O_RDONLY | O_CLOEXEC) }
            return state.descriptor < 0 ? nil : body(state.descriptor)
        }
    }

    // The numbers are the same on all processors. Some headers omit the names.
    #if canImport(Darwin)
        private static let set: Int32 = 90
        private static let get: Int32 = 92
    #else
        private static let set: Int32 = 37
        private static let get: Int32 = 36
    #endif

    /// Calls `fcntl` for the lock. Returns the resulting type, or `nil` if the call failed.
    private static func control(_ descriptor: Int32, command: Int32, type: Int16) -> Int16? {
        var lock = flock()
        lock.l_type = type
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0
        lock.l_len = 1
        while fcntl(descriptor, command, &lock) != 0 {
            guard errno == EINTR else { return nil }
        }
        return lock.l_type
    }
}
