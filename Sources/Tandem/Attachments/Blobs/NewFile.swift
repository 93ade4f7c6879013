import Foundation

/// A file that is being written to the folder. It has no name if the system supports that, or a `.partial` one. If it
/// is dropped before ``commit()``, it is removed.
final class NewFile {
    let file: OpenFile
    let blob: BlobName
    private let shard: OpenFile
    /// The name to remove if the file is not kept.
    private var name: String?

    init(in shard: OpenFile, blob: BlobName, unnamed: Bool) throws {
        self.shard = shard
        self.blob = blob
        if unnamed, let file = Self.unnamed(in: shard) {
            self.file = file
            return
        }
        // This is not the final name. A crashed copy may have left that one, because a copy keeps its file's name.
        let partial = blob.sibling().partial
        guard let file = shard.open(partial, flags: O_WRONLY | O_CREAT | O_EXCL) else {
            throw TandemError.file("made", path: shard.path)
        }
        self.file = file
        name = partial
    }

    private static func unnamed(in shard: OpenFile) -> OpenFile? {
        #if os(Linux)
            // The path through which the file gets its name later.
            guard access("/proc/self/fd", X_OK) == 0 else { return nil }
            // O_TMPFILE, which Swift does not import.
            return OpenFile(
                openat(shard.number, ".", O_WRONLY | 0o20_000_000 | O_DIRECTORY | O_CLOEXEC, 0o600), path: shard.path)
        #else
            return nil
        #endif
    }

    deinit {
        if let name { unlinkat(shard.number, name, 0) }
    }

    /// Flushes the file, gives it its name and flushes that. The file then survives a crash.
    func commit(flushing: Bool = true) throws {
        if flushing { try file.flush() }
        try moveToFinalName()
        // The file is removed on failure until its name is flushed too.
        name = blob.rawValue
        if flushing { try shard.flush() }
        name = nil
    }

    private func moveToFinalName() throws {
        guard let partial = name else {
            let own = "/proc/self/fd/\(file.number)"
            guard linkat(AT_FDCWD, own, shard.number, blob.rawValue, AT_SYMLINK_FOLLOW) == 0 else {
                throw TandemError.file("named", path: shard.path)
            }
            return
        }
        // A link can't replace a file that another process has just put there, but a rename can.
        if linkat(shard.number, partial, shard.number, blob.rawValue, 0) == 0 {
            unlinkat(shard.number, partial, 0)
            return
        }
        // Some file systems have no links.
        guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else {
            throw TandemError.file("named", path: shard.path)
        }
        if try shard.status(of: blob.rawValue) != nil {
            throw TandemError.file("named", path: shard.path, reason: EEXIST)
        }
        guard renameat(shard.number, partial, shard.number, blob.rawValue) == 0 else {
            throw TandemError.file("named", path: shard.path)
        }
    }
}
