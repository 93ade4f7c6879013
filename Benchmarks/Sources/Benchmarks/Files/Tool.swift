import Foundation

/// A system command that runs to its end.
enum Tool {
    /// Runs a command.
    ///
    /// - Returns: Its output.
    @discardableResult
    static func run(_ name: String, with arguments: [String]) throws -> String {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw UsageError(problem: "no pipe for \(name)") }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        let words = ([name] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        var child = pid_t()
        let result = posix_spawnp(&child, name, &actions, nil, words + [nil], environ)
        close(ends[1])
        guard result == 0 else {
            throw UsageError(problem: "\(name) can't be run: \(String(cString: strerror(result)))")
        }
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(ends[0], &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            output += buffer[..<count]
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw UsageError(problem: "\(name) has failed (\(status))") }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns when the pending writes of all processes are on the disk.
    static func syncDisk() { sync() }

    /// Returns the SHA-256 of a file from sha256sum: 64 digits.
    static func sha256sum(_ path: String) throws -> String { String(try run("sha256sum", with: [path]).prefix(64)) }
}
