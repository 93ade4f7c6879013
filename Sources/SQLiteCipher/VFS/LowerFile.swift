import Foundation
import GRDBSQLite

/// A database file, read as it is stored and through SQLite's own VFS.
///
/// NB: to open the file by ourselves, and to close it again, would drop every lock that this process has on it: such are
/// POSIX locks (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
/// SQLite's VFS knows of all its open files, and puts such a close off until the last lock is gone.
package final class LowerFile {
    private let path: String
    private let name: UnsafeMutablePointer<CChar>
    private let memory: UnsafeMutableRawPointer
    private let base: BaseFile

    init(reading path: String) throws {
        self.path = path
        // Not registered for this: plain files are looked at where encryption can't be had.
        guard let vfs = CipherVFS.lower, let open = vfs.pointee.xOpen,
            // SQLite looks for parameters behind a name's end.
            let name = sqlite3_create_filename(Self.fullPath(path, vfs), "", "", 0, nil)
        else { throw CipherError(.cannotOpen, "The database can't be opened.", path: path) }
        self.name = UnsafeMutablePointer(mutating: name)
        memory = .allocate(byteCount: Int(vfs.pointee.szOsFile), alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(vfs.pointee.szOsFile))
        base = BaseFile(pointer: memory.assumingMemoryBound(to: sqlite3_file.self))
        let code = open(vfs, name, base.pointer, SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READONLY, nil)
        guard code == SQLITE_OK else {
            throw CipherError(
                .cannotOpen, "The file can't be opened: \(String(cString: strerror(errno))).", path: path,
                sqliteCode: code)
        }
    }

    /// The path as SQLite hands it to a VFS, which follows no link by itself.
    private static func fullPath(_ path: String, _ vfs: UnsafeMutablePointer<sqlite3_vfs>) -> String {
        var full = [CChar](repeating: 0, count: Int(vfs.pointee.mxPathname) + 1)
        let code = vfs.pointee.xFullPathname?(vfs, path, Int32(full.count), &full)
        guard code == SQLITE_OK || code == SQLITE_OK_SYMLINK else { return path }
        return full.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? path
    }

    deinit {
        _ = base.close()
        memory.deallocate()
        sqlite3_free_filename(name)
    }

    func size() throws -> Int64 {
        guard let size = base.size() else { throw CipherError(.ioFailure, "The file's size is unknown.", path: path) }
        return size
    }

    /// Reads as much as there is at an offset, up to the memory's size.
    func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        guard let start = target.baseAddress else { return 0 }
        let code = base.read(start, target.count, at: offset)
        if code == SQLITE_OK { return target.count }
        guard code == SQLITE_IOERR_SHORT_READ else {
            throw CipherError(.ioFailure, "The file can't be read.", path: path, sqliteCode: code)
        }
        return Int(min(Int64(target.count - 1), max(0, try size() - offset)))
    }

    /// The file's first bytes; fewer if it is shorter.
    package static func head(_ path: String, count: Int) throws -> [UInt8] {
        let file = try LowerFile(reading: path)
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try bytes.withUnsafeMutableBytes { try file.read($0, at: 0) }
        return Array(bytes[..<got])
    }
}
