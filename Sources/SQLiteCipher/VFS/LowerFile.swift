import Foundation
import GRDBSQLite

/// A database file, read as stored through SQLite's own VFS.
///
/// NB: opening and closing the file directly would release every lock that this process holds on it. POSIX locks behave
/// so (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
/// SQLite's VFS tracks all its open files, and delays such a close until the last lock is released.
package final class LowerFile {
    private let path: String
    private let name: UnsafeMutablePointer<CChar>
    private let memory: UnsafeMutableRawPointer
    private let base: BaseFile

    init(reading path: String) throws {
        self.path = path
        // This does not register our VFS: plain files are inspected where encryption is not available.
        guard let vfs = CipherVFS.lower, let open = vfs.pointee.xOpen,
            // SQLite looks for parameters after the end of a file name.
            let name = sqlite3_create_filename(Self.fullPath(path, vfs: vfs), "", "", 0, nil)
        else { throw CipherError(.cannotOpen, message: "The database can't be opened.", path: path) }
        self.name = UnsafeMutablePointer(mutating: name)
        memory = .allocate(byteCount: Int(vfs.pointee.szOsFile), alignment: 16)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: Int(vfs.pointee.szOsFile))
        base = BaseFile(pointer: memory.assumingMemoryBound(to: sqlite3_file.self))
        let code = open(vfs, name, base.pointer, SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READONLY, nil)
        guard code == SQLITE_OK else {
            throw CipherError(
                .cannotOpen, message: "The file can't be opened: \(String(cString: strerror(errno))).", path: path,
                sqliteCode: code)
        }
    }

    /// Returns the path as SQLite passes it to a VFS, with symbolic links resolved.
    ///
    /// A VFS does not follow symbolic links.
    private static func fullPath(_ path: String, vfs: UnsafeMutablePointer<sqlite3_vfs>) -> String {
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
        guard let size = base.size() else {
            throw CipherError(.ioFailure, message: "The file's size is unknown.", path: path)
        }
        return size
    }

    /// Reads up to the buffer's size at an offset. Returns fewer bytes only at the end of the file.
    func read(_ target: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        guard let start = target.baseAddress else { return 0 }
        let code = base.read(start, count: target.count, at: offset)
        if code == SQLITE_OK { return target.count }
        guard code == SQLITE_IOERR_SHORT_READ else {
            throw CipherError(.ioFailure, message: "The file can't be read.", path: path, sqliteCode: code)
        }
        return Int(min(Int64(target.count - 1), max(0, try size() - offset)))
    }

    /// Returns the file's first bytes, or fewer if it is shorter.
    package static func head(_ path: String, count: Int) throws -> [UInt8] {
        let file = try LowerFile(reading: path)
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try bytes.withUnsafeMutableBytes { try file.read($0, at: 0) }
        return Array(bytes[..<got])
    }
}
