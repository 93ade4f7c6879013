import Foundation

/// An open file of the system.
final class Descriptor {
    private let number: Int32
    private let path: String

    init(reading path: String) throws {
        self.path = path
        number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw Self.failure(.cannotOpen, "opened", path) }
    }

    init(creating path: String) throws {
        self.path = path
        number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw Self.failure(.cannotOpen, "made", path) }
    }

    deinit {
        if number >= 0 { close(number) }
    }

    private static func failure(_ code: CipherError.Code, _ what: String, _ path: String) -> CipherError {
        CipherError(code, "The file can't be \(what): \(String(cString: strerror(errno))).", path: path)
    }

    func size() throws -> Int64 {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw Self.failure(.ioFailure, "measured", path) }
        return Int64(status.st_size)
    }

    /// Reads as much as there is, up to the memory's size, at an offset or from where the last read ended.
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
                throw Self.failure(.ioFailure, "read", path)
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
                throw Self.failure(.ioFailure, "written", path)
            }
            done += count
        }
    }

    /// Flushes the file and gives it its final name, so that a crash leaves the old file or the whole new one.
    func moveIntoPlace(_ target: String) throws {
        guard fsync(number) == 0 else { throw Self.failure(.ioFailure, "flushed", path) }
        guard rename(path, target) == 0 else { throw Self.failure(.ioFailure, "put in place", target) }
        let folder = (target as NSString).deletingLastPathComponent
        let directory = try Descriptor(reading: folder.isEmpty ? "." : folder)
        guard fsync(directory.number) == 0 else { throw Self.failure(.ioFailure, "flushed", folder) }
    }
}
