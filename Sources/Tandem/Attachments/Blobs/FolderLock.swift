import Foundation

/// A lock on a store's folder between processes, and between `Store`s of one process. It is an empty file, locked by
/// `flock`. The system releases it when a process dies.
struct FolderLock {
    private let name: String

    /// The lock held by all instances of an open store. They may have files in the folder that no row names yet.
    static let open = FolderLock(name: ".open")
    /// The lock held by all copies of files that rows named when the copy began.
    static let copying = FolderLock(name: ".copying")

    /// A lock that is held as long as this object exists.
    final class Held: Sendable {
        let file: OpenFile

        fileprivate init(_ file: OpenFile) { self.file = file }

        // Closing the file is not enough: a child process that another thread is starting has all our files open until
        // it executes its program.
        deinit { flock(file.number, LOCK_UN) }
    }

    /// Waits for the lock. It is held as long as the returned object exists.
    ///
    /// - Returns: `nil` if the lock does not exist and can't be created, on a read-only medium.
    func shared(in root: OpenFile) throws -> Held? {
        guard let file = try file(in: root) else { return nil }
        while flock(file.number, LOCK_SH) != 0 {
            guard errno == EINTR else { throw TandemError.file("locked", path: file.path) }
        }
        return Held(file)
    }

    /// Acquires an exclusive lock. Returns `nil` if another process has it, or it can't be created.
    func exclusive(in root: OpenFile) throws -> Held? {
        guard let file = try file(in: root) else { return nil }
        while flock(file.number, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return nil }
            guard errno == EINTR else { throw TandemError.file("locked", path: file.path) }
        }
        return Held(file)
    }

    private func file(in root: OpenFile) throws -> OpenFile? {
        var file = root.open(name, flags: O_RDWR | O_CREAT | O_NONBLOCK)
        if file == nil, errno == EACCES || errno == EROFS {
            // A process without write permission can lock too.
            file = root.open(name, flags: O_RDONLY | O_NONBLOCK)
            if file == nil, errno == ENOENT { return nil }
        }
        guard let file else { throw TandemError.file("locked", path: root.path + "/" + name) }
        guard try file.status().isRegular else { throw TandemError.file("locked", path: file.path, reason: EINVAL) }
        return file
    }
}
