import Foundation

/// A small in-memory file system for one test; `nil` if it can't be mounted.
final class SmallDisk {
    let path: String

    init?(_ path: String, options: String) {
        self.path = path
        guard mkdir(path, 0o755) == 0, Self.run("mount", "-t", "tmpfs", "-o", options, "tmpfs", path) else {
            return nil
        }
    }

    deinit { _ = Self.run("umount", path) }

    /// Makes the file system read-only.
    func protect() -> Bool { Self.run("mount", "-o", "remount,ro", path) }

    /// Returns the number of free bytes.
    static func freeBytes(at path: String) -> Int {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return 0 }
        return Int(status.f_bavail) * Int(status.f_frsize)
    }

    private static func run(_ line: String...) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = line
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
