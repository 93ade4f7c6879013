import Foundation

/// A lock between processes that sync the same store. It locks a file beside the store. The system releases it when its
/// process dies.
///
/// The file stays: removing it would let a second process lock a new file while the first one holds the old one. It
/// contains only times: ``QuietPulls``.
struct ProcessLock: Sendable {
    private let descriptor: Int32

    /// Acquires the lock if it is free.
    ///
    /// - Returns: `nil` if another process has it.
    /// - Throws: ``SyncError/Code/busy`` with the system's reason if the file can't be opened or locked.
    static func acquire(at path: String) throws(SyncError) -> ProcessLock? {
        // A new file gets its permissions by the umask, as SQLite's files do.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { throw failure(path) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let isTaken = errno == EWOULDBLOCK
            let error = failure(path)
            close(descriptor)
            guard isTaken else { throw error }
            return nil
        }
        return ProcessLock(descriptor: descriptor)
    }

    /// Releases the lock. Call it once.
    func release() {
        // Closing the file is not enough: a child process that another thread is starting has all our files open.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func failure(_ path: String) -> SyncError {
        let reason = String(cString: strerror(errno))
        return SyncError(
            .busy, message: "The lock file \(path) can't be taken: \(reason).",
            advice: "Look at the folder's permissions.")
    }
}
