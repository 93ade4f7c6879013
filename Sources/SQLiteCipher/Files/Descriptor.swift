import Foundation

/// An open file descriptor.
final class Descriptor {
    private let number: Int32
    private let path: String
    /// Whether `deinit` closes the descriptor.
    private let isOwned: Bool
    /// The temporary name of a file that is not yet in its final place.
    private var name: String?

    /// Wraps a descriptor that the caller keeps open while this object is used, and closes.
    ///
    /// - Parameter path: The path that errors report.
    init(borrowing number: Int32, path: String) {
        self.number = number
        self.path = path
        isOwned = false
    }

    init(reading path: String) throws {
        self.path = path
        isOwned = true
        number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw Self.failure(.cannotOpen, what: "opened", path: path) }
    }

    /// Creates a file that replaces the target when it is complete: see `moveIntoPlace()`. If the system supports it,
    /// the file has no name until then, so a killed process leaves nothing. Otherwise it has a random, unused name.
    init(for target: String) throws {
        path = target
        isOwned = true
        let unnamed = Self.openUnnamed(target)
        if unnamed >= 0 {
            number = unnamed
            return
        }
        let fresh = try Self.freshName(target)
        number = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw Self.failure(.cannotOpen, what: "created", path: target) }
        name = fresh
    }

    private static func openUnnamed(_ target: String) -> Int32 {
        #if os(Linux)
            // `moveIntoPlace()` names the file through this path.
            guard access("/proc/self/fd", X_OK) == 0 else { return -1 }
            let folder = (target as NSString).deletingLastPathComponent
            // O_TMPFILE, which Swift does not import.
            let unnamed = 0o20_000_000 | O_DIRECTORY
            return open(folder.isEmpty ? "." : folder, O_WRONLY | unnamed | O_CLOEXEC, 0o600)
        #else
            return -1
        #endif
    }

    private static func freshName(_ target: String) throws -> String {
        let random = try RandomPool.bytes(8).map { String($0, radix: 16) }.joined()
        return "\(target).\(random).partial"
    }

    deinit {
        if let name { unlink(name) }
        if isOwned, number >= 0 { close(number) }
    }

    private static func failure(_ code: CipherError.Code, what: String, path: String) -> CipherError {
        let reason = errno
        if reason == ENOSPC || reason == EDQUOT {
            return CipherError(
                .diskFull, message: "The file can't be \(what): \(String(cString: strerror(reason))).",
                advice: "Free space on the disk.", path: path)
        }
        return CipherError(
            code, message: "The file can't be \(what): \(String(cString: strerror(reason))).", path: path)
    }

    func size() throws -> Int64 {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw Self.failure(.ioFailure, what: "measured", path: path) }
        return Int64(status.st_size)
    }

    /// Reads up to the buffer's size, at an offset or at the current position. Returns fewer bytes only at the end of
    /// the file.
    func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64? = nil) throws -> Int {
        guard let start = target.baseAddress else { return 0 }
        var done = 0
        while done < target.count {
            let rest = target.count - done
            let count =
                offset.map { pread(number, start + done, rest, off_t($0) + off_t(done)) }
                ?? Foundation.read(number, start + done, rest)
            if count < 0 {
                if errno == EINTR { continue }
                throw Self.failure(.ioFailure, what: "read", path: path)
            }
            if count == 0 { break }
            done += count
        }
        return done
    }

    func write(_ source: UnsafeRawBufferPointer) throws {
        guard let start = source.baseAddress else { return }
        var done = 0
        while done < source.count {
            let count = Foundation.write(number, start + done, source.count - done)
            if count < 0 {
                if errno == EINTR { continue }
                throw Self.failure(.ioFailure, what: "written", path: path)
            }
            done += count
        }
    }

    /// Flushes the file and gives it its final name. A crash leaves either the old file or the whole new one.
    func moveIntoPlace() throws {
        guard fsync(number) == 0 else { throw Self.failure(.ioFailure, what: "flushed", path: path) }
        let partial = try name ?? Self.freshName(path)
        #if os(Linux)
            if name == nil {
                // A link can't replace a file, a rename can.
                let own = "/proc/self/fd/\(number)"
                guard linkat(AT_FDCWD, own, AT_FDCWD, partial, AT_SYMLINK_FOLLOW) == 0 else {
                    throw Self.failure(.ioFailure, what: "named", path: path)
                }
                name = partial
            }
        #endif
        guard rename(partial, path) == 0 else { throw Self.failure(.ioFailure, what: "moved into place", path: path) }
        name = nil
        let folder = (path as NSString).deletingLastPathComponent
        // The file is in place. A folder that is writable but not readable can't be opened, and so can't be flushed.
        guard let directory = try? Descriptor(reading: folder.isEmpty ? "." : folder) else { return }
        guard fsync(directory.number) == 0 else { throw Self.failure(.ioFailure, what: "flushed", path: folder) }
    }
}
