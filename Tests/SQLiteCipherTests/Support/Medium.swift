import Foundation
import Testing

/// A separate file system that can be small or read-only. It is `nil` if the system can't create one.
final class Medium {
    let path: String

    init?(_ scratch: Scratch, options: String = "size=64m") {
        path = scratch.path("medium")
        guard mkdir(path, 0o755) == 0, Self.run("mount", "-t", "tmpfs", "-o", options, "tmpfs", path) else {
            return nil
        }
    }

    deinit {
        _ = Self.run("umount", path)
    }

    func protect() throws { try #require(Self.run("mount", "-o", "remount,ro", path)) }

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
