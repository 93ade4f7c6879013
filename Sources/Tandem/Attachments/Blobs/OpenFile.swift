import Foundation

/// An open file or folder, which is closed with its last reference.
///
/// All files below a store's folder are opened from their parent folder, by a single name. Symbolic links are never
/// followed. So no file outside the folder is read, written or removed, whatever another process creates meanwhile.
final class OpenFile: Sendable {
    let number: Int32
    /// The path in error messages.
    let path: String

    /// Takes ownership of a descriptor that a system call returned. On failure the error is in `errno`.
    init?(_ number: Int32, path: String) {
        guard number >= 0 else { return nil }
        self.number = number
        self.path = path
    }

    deinit { close(number) }

    func open(_ name: String, flags: Int32) -> OpenFile? {
        OpenFile(openat(number, name, flags | O_NOFOLLOW | O_CLOEXEC, 0o600), path: path + "/" + name)
    }

    func status() throws -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw TandemError.file("measured", path: path) }
        return status
    }

    /// Returns the status of a name, without following symbolic links, or `nil` if the name does not exist.
    func status(of name: String) throws -> stat? {
        var status = stat()
        if fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
        if errno == ENOENT { return nil }
        throw TandemError.file("looked up", path: path + "/" + name)
    }

    /// Reads until the memory is full or the file ends.
    ///
    /// - Parameter offset: The offset of the first byte, or `nil` to continue at the end of the last read.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64? = nil) throws -> Int {
        guard let start = target.baseAddress else { return 0 }
        var done = 0
        while done < target.count {
            let rest = target.count - done
            let count =
                offset.map { pread(number, start + done, rest, off_t($0) + off_t(done)) }
                ?? Foundation.read(number, start + done, rest)
            if count == 0 { break }
            if count > 0 { done += count } else if errno != EINTR { throw TandemError.file("read", path: path) }
        }
        return done
    }

    func write(_ source: UnsafeRawBufferPointer) throws {
        guard let start = source.baseAddress else { return }
        var done = 0
        while done < source.count {
            let count = Foundation.write(number, start + done, source.count - done)
            if count >= 0 { done += count } else if errno != EINTR { throw TandemError.file("written", path: path) }
        }
    }

    /// Waits until the file, or the folder with its names, is on the disk.
    func flush() throws {
        while fsync(number) != 0 {
            if errno == EINTR { continue }
            // This error means that the file system can't flush folders.
            if errno == EINVAL, (try? status().isFolder) == true { return }
            throw TandemError.file("flushed", path: path)
        }
    }
}

extension stat {
    var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
}
