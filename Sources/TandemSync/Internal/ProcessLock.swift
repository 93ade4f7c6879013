import Foundation

/// Tells processes apart that would sync one store: a lock on a file beside it, which the system takes back when its
/// holder dies, however it dies.
///
/// The file stays: removing it would let a second process lock a new file while the first one holds the old one. It
/// holds nothing but times: ``QuietPulls``.
struct ProcessLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock if nobody has it.
    ///
    /// - Returns: `nil` if another process has it.
    /// - Throws: ``SyncError/Code/busy`` with the system's reason if the file can't be opened or locked.
    static func take(at path: String) throws(SyncError) -> ProcessLock? {
        // A new file is readable and writable as the store is: by the umask, as SQLite makes its own.
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

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Lets others have it. To be called once.
    func release() {
        close(descriptor)
    }

    private static func failure(_ path: String) -> SyncError {
        let reason = String(cString: strerror(errno))
        return SyncError(
            .busy, "The lock file \(path) can't be taken: \(reason).", advice: "Look at the folder's permissions.")
    }
}
