import Foundation

/// A lock on a store's folder that processes share, and `Store`s of one process: an empty file, locked by `flock`, which
/// the system drops when a process dies.
struct FolderLock {
    private let name: String

    /// Held by all who have the store open, and may have files in the folder that no row names yet.
    static let open = FolderLock(name: ".open")
    /// Held by all who copy files that rows named when they began.
    static let copying = FolderLock(name: ".copying")

    /// A lock that is held for as long as this is.
    final class Held: Sendable {
        let file: OpenFile

        fileprivate init(_ file: OpenFile) { self.file = file }

        // Closing the file would do, but for a process that is just being started by another thread: until it runs its
        // own program it has all our files open.
        deinit { flock(file.number, LOCK_UN) }
    }

    /// Waits for the lock. It is held for as long as what is returned.
    ///
    /// - Returns: `nil` where there is no such lock and none can be made: on a medium that nobody writes to.
    func shared(in root: OpenFile) throws -> Held? {
        guard let file = try file(in: root) else { return nil }
        while flock(file.number, LOCK_SH) != 0 {
            guard errno == EINTR else { throw TandemError.file("locked", file.path) }
        }
        return Held(file)
    }

    /// Takes the lock for itself alone; `nil` if another has it, or it can't be made.
    func exclusive(in root: OpenFile) throws -> Held? {
        guard let file = try file(in: root) else { return nil }
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return nil }
            guard errno == EINTR else { throw TandemError.file("locked", file.path) }
        }
        return Held(file)
    }

    private func file(in root: OpenFile) throws -> OpenFile? {
        var file = root.open(name, O_RDWR | O_CREAT | O_NONBLOCK)
        if file == nil, errno == EACCES || errno == EROFS {
            // Who may only read can lock for all that.
            file = root.open(name, O_RDONLY | O_NONBLOCK)
            if file == nil, errno == ENOENT { return nil }
        }
        guard let file else { throw TandemError.file("locked", root.path + "/" + name) }
        guard try file.status().isRegular else { throw TandemError.file("locked", file.path, reason: EINVAL) }
        return file
    }
}
