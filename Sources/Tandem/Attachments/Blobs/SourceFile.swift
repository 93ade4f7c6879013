import Foundation

/// A foreign file that is copied, and that may change meanwhile.
struct SourceFile {
    private let path: String
    private let file: OpenFile
    private let before: stat

    init(_ path: String) throws {
        guard !path.utf8.contains(0) else { throw Self.refusal(path, reason: "its path contains U+0000") }
        var status = stat()
        guard stat(path, &status) == 0 else { throw Self.unopened(path) }
        // Opening a device may have effects, and opening a pipe may wait.
        try Self.check(status, path: path)
        guard let file = OpenFile(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), path: path) else {
            throw Self.unopened(path)
        }
        self.path = path
        self.file = file
        before = try file.status()
        try Self.check(before, path: path)
    }

    private static func unopened(_ path: String) -> TandemError {
        TandemError.file("opened", path: path, code: .cannotOpen)
    }

    private static func refusal(_ path: String, reason why: String) -> TandemError {
        TandemError(
            .cannotOpen, message: "The file can't be attached: \(why).", advice: "Give the path of a file.", store: path
        )
    }

    private static func check(_ status: stat, path: String) throws {
        if status.isFolder { throw refusal(path, reason: "it is a folder") }
        if !status.isRegular { throw refusal(path, reason: "it is a device, a pipe or a socket") }
    }

    /// Reads the whole file. The memory passed to `receive` is reused for the next piece.
    func read(
        pieces pieceSize: Int, didRead: ((Int64) throws -> Void)?, _ receive: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 4096)
        defer { buffer.deallocate() }
        var done: Int64 = 0
        while true {
            let count = try file.read(into: buffer)
            if count == 0 { break }
            done += Int64(count)
            guard done <= before.st_size else { throw changed() }
            try receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            try didRead?(done)
        }
        guard done == before.st_size, try isUnchanged() else { throw changed() }
    }

    private func isUnchanged() throws -> Bool {
        let after = try file.status()
        guard after.st_size == before.st_size, after.changedAt == before.changedAt else { return false }
        // Another file may have replaced it. A deleted file was read to its end.
        var named = stat()
        guard stat(path, &named) == 0 else { return errno == ENOENT }
        return named.st_ino == before.st_ino && named.st_dev == before.st_dev
    }

    private func changed() -> TandemError {
        TandemError(
            .fileChanged, message: "The file was changed while it was copied.",
            advice: "Try again when it is complete.",
            store: path)
    }
}

extension stat {
    /// The time of the content's last change, in nanoseconds.
    var changedAt: [Int] {
        #if canImport(Darwin)
            [st_mtimespec.tv_sec, st_mtimespec.tv_nsec]
        #else
            [st_mtim.tv_sec, st_mtim.tv_nsec]
        #endif
    }
}
