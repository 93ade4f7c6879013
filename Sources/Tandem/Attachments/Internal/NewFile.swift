import Foundation

/// A file on its way into the folder: without a name where the system can do that, or else a `.partial` one. Dropped
/// before ``keep()``, it leaves nothing.
final class NewFile {
    let file: OpenFile
    let blob: BlobName
    private let shard: OpenFile
    /// What is removed if it is not kept.
    private var name: String?

    init(in shard: OpenFile, _ blob: BlobName, unnamed: Bool) throws {
        self.shard = shard
        self.blob = blob
        if unnamed, let file = Self.unnamed(in: shard) {
            self.file = file
            return
        }
        // Not the name that it will have: a copy that died may have left that one, and a copy keeps its file's name.
        let partial = blob.sibling().partial
        guard let file = shard.open(partial, O_WRONLY | O_CREAT | O_EXCL) else {
            throw TandemError.file("made", shard.path)
        }
        self.file = file
        name = partial
    }

    private static func unnamed(in shard: OpenFile) -> OpenFile? {
        #if os(Linux)
            // What gives it a name later.
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

    /// Flushes the file, gives it its name and flushes that: then it outlives a crash.
    func keep(flushing: Bool = true) throws {
        if flushing { try file.flush() }
        try takePlace()
        // Until its name is flushed too.
        name = blob.rawValue
        if flushing { try shard.flush() }
        name = nil
    }

    private func takePlace() throws {
        guard let partial = name else {
            let own = "/proc/self/fd/\(file.number)"
            guard linkat(AT_FDCWD, own, shard.number, blob.rawValue, AT_SYMLINK_FOLLOW) == 0 else {
                throw TandemError.file("named", shard.path)
            }
            return
        }
        // A link can't replace a file that another has just put there, a rename can.
        if linkat(shard.number, partial, shard.number, blob.rawValue, 0) == 0 {
            unlinkat(shard.number, partial, 0)
            return
        }
        // Not all file systems have links.
        guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else { throw TandemError.file("named", shard.path) }
        if try shard.status(of: blob.rawValue) != nil { throw TandemError.file("named", shard.path, reason: EEXIST) }
        guard renameat(shard.number, partial, shard.number, blob.rawValue) == 0 else {
            throw TandemError.file("named", shard.path)
        }
    }
}
