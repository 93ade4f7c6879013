import Foundation

/// The lock under which a database is rewritten in place, and the name of the attempt's new file.
///
/// The lock is an advisory lock (`flock`) on a file `PATH-rewrite-lock`. SQLite's own locks are not enough: a second
/// attempt may have opened the old file before the first one replaced it. The system releases the lock if the process
/// dies. The attempt that holds the file removes it.
final class RewriteLock {
    private let database: String
    private let descriptor: Int32

    private var path: String { database + Self.suffix }

    private static let suffix = "-rewrite-lock"
    /// The number of random bytes in an attempt's name.
    private static let nameLength = 8

    /// Acquires the lock.
    ///
    /// - Parameters:
    ///   - database: The path of the database, without symbolic links.
    ///   - patience: The time to wait for another attempt, in seconds.
    /// - Throws: ``CipherError/Code/busy`` if another attempt is still running then.
    init(_ database: String, patience: TimeInterval) throws {
        self.database = database
        let path = database + Self.suffix
        let end = Date(timeIntervalSinceNow: patience)
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else {
                throw CipherError(
                    .cannotOpen, message: "The lock file \(path) can't be opened: \(String(cString: strerror(errno))).",
                    advice: "Remove it if no process changes the database's key.", path: database)
            }
            // The attempt that held the lock may have removed the file in the meantime.
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0, Self.isFile(descriptor, at: path) {
                self.descriptor = descriptor
                return
            }
            close(descriptor)
            guard Date() < end else {
                throw CipherError(
                    .busy, message: "Another process or thread is rewriting the database.",
                    advice: "Wait until the other change of its key has ended, and try again.", path: database)
            }
            usleep(10_000)
        }
    }

    deinit {
        unlink(path)
        close(descriptor)
    }

    private static func isFile(_ descriptor: Int32, at path: String) -> Bool {
        var (opened, named) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(path, &named) == 0
            && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev
    }

    /// Returns a path for the new file that no other attempt uses.
    func newPath() throws -> String {
        let digits = try RandomPool.bytes(Self.nameLength).map { String(0x100 + Int($0), radix: 16).dropFirst() }
        return "\(database)-rewrite-\(digits.joined())"
    }

    /// Removes the new files of attempts whose process died.
    func removeLeftovers() {
        let folder = (database as NSString).deletingLastPathComponent
        let prefix = (database as NSString).lastPathComponent + "-rewrite-"
        // A folder that is writable but not readable keeps them.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        for name in names where name.hasPrefix(prefix) && Self.isAttempt(name.dropFirst(prefix.count)) {
            unlink((folder as NSString).appendingPathComponent(name))
        }
    }

    /// Whether ``newPath()`` made the end of a name: the digits, and perhaps one of SQLite's suffixes.
    private static func isAttempt(_ end: Substring) -> Bool {
        let digits = end.prefix { $0.isASCII && $0.isHexDigit }
        return digits.count == 2 * nameLength
            && ["", "-journal", "-wal", "-shm"].contains(end.dropFirst(digits.count))
    }
}
