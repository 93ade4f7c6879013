import Foundation

/// An open file or folder, closed with the last that holds it.
///
/// Whatever lies below a store's folder is opened from the folder above it, by one name and never through a symbolic
/// link: so nothing outside is read, written or removed, whoever puts what there meanwhile.
final class OpenFile: Sendable {
    let number: Int32
    /// What errors call it.
    let path: String

    /// Takes over what a call of the system's returned; errors are told from `errno`.
    init?(_ number: Int32, path: String) {
        guard number >= 0 else { return nil }
        self.number = number
        self.path = path
    }

    deinit { close(number) }

    func open(_ name: String, _ flags: Int32, mode: mode_t = 0o600) -> OpenFile? {
        OpenFile(openat(number, name, flags | O_NOFOLLOW | O_CLOEXEC, mode), path: path + "/" + name)
    }

    func status() throws -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw TandemError.file("measured", path) }
        return status
    }

    /// What lies under a name, a symbolic link itself and not what it points to; `nil` if nothing does.
    func status(of name: String) throws -> stat? {
        var status = stat()
        if fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
        if errno == ENOENT { return nil }
        throw TandemError.file("looked up", path + "/" + name)
    }

    /// Reads as much as there is, up to the memory's size, at an offset or from where the last read ended.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64? = nil) throws -> Int {
        guard let start = target.baseAddress else { return 0 }
        var done = 0
        while done < target.count {
            let rest = target.count - done
            let count =
                offset.map { pread(number, start + done, rest, off_t($0) + off_t(done)) }
                ?? Foundation.read(number, start + done, rest)
            if count == 0 { break }
            if count > 0 { done += count } else if errno != EINTR { throw TandemError.file("read", path) }
        }
        return done
    }

    func write(_ source: UnsafeRawBufferPointer) throws {
        guard let start = source.baseAddress else { return }
        var done = 0
        while done < source.count {
            let count = Foundation.write(number, start + done, source.count - done)
            if count >= 0 { done += count } else if errno != EINTR { throw TandemError.file("written", path) }
        }
    }

    /// Waits until the file, or the folder with the names in it, is on the disk.
    func flush() throws {
        while fsync(number) != 0 {
            if errno == EINTR { continue }
            // A file system that can't flush folders says so.
            if errno == EINVAL, (try? status().isFolder) == true { return }
            throw TandemError.file("flushed", path)
        }
    }
}

extension stat {
    var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
    var isFolder: Bool { st_mode & S_IFMT == S_IFDIR }
}
