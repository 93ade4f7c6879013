import Foundation

/// Index files that killed processes left in memory: nobody else would ever remove those of a database that is not
/// opened again.
///
/// Whoever maps an index holds a shared lock on its file (`flock`, which the system drops when a process dies). A file
/// on which an exclusive one can be had is therefore nobody's.
enum IndexLitter {
    /// Marks an open index as used, for as long as the descriptor is open.
    ///
    /// - Returns: whether it still has its name. Between its opening and its marking somebody may have taken it for
    ///   litter; then nobody has it mapped, and nobody can any more.
    static func claim(_ descriptor: Int32) -> Bool {
        // Whoever looks for litter holds the other lock for a moment.
        for _ in 0..<1000 {
            if flock(descriptor, LOCK_SH | LOCK_NB) == 0 {
                var status = stat()
                return fstat(descriptor, &status) == 0 && status.st_nlink > 0
            }
            usleep(100)
        }
        return false
    }

    /// Removes this user's index files that nobody uses.
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
