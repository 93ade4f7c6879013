import Foundation

/// Removal of index files that killed processes left in memory. If their database is never opened again, no other code
/// removes them.
///
/// Each process that maps an index holds a shared lock on its file (`flock`). The system releases the lock when the
/// process dies. If an exclusive lock succeeds, no process uses the file.
enum StaleIndexFiles {
    /// Marks an open index as used while the descriptor is open.
    ///
    /// - Returns: Whether the file still has its name. Before the lock, another process may have removed the file as
    ///   stale. Then no process has it mapped, and no process can open it any more.
    static func claim(_ descriptor: Int32) -> Bool {
        // A process that looks for stale files holds the exclusive lock for a moment.
        for _ in 0..<1000 {
            if flock(descriptor, LOCK_SH | LOCK_NB) == 0 {
                var status = stat()
                return fstat(descriptor, &status) == 0 && status.st_nlink > 0
            }
            usleep(100)
        }
        return false
    }

    /// Removes this user's index files that no process uses.
    static func sweep(_ folder: String, prefix: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix(prefix) { removeIfUnused("\(folder)/\(name)") }
    }

    private static func removeIfUnused(_ path: String) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid() || geteuid() == 0,
            flock(descriptor, LOCK_EX | LOCK_NB) == 0
        else { return }
        unlink(path)
    }
}
