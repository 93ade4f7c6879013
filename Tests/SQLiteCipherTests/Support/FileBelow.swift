import Foundation
import GRDBSQLite
import Testing

@testable import SQLiteCipher

/// A file of the VFS below ours, opened without our VFS.
final class FileBelow {
    let base: BaseFile
    private let memory: UnsafeMutableRawPointer
    private let name: UnsafeMutablePointer<CChar>

    init(_ path: String) throws {
        let vfs = try #require(sqlite3_vfs_find("unix"))
        memory = .allocate(byteCount: Int(vfs.pointee.szOsFile), alignment: 16)
        memset(memory, 0, Int(vfs.pointee.szOsFile))
        // SQLite reads parameters after a name until it finds an empty one.
        name = .allocate(capacity: path.utf8.count + 4)
        name.initialize(repeating: 0, count: path.utf8.count + 4)
        strcpy(name, path)
        base = BaseFile(pointer: memory.assumingMemoryBound(to: sqlite3_file.self))
        var flags: Int32 = 0
        let code = vfs.pointee.xOpen(vfs, name, base.pointer, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB, &flags)
        try #require(code == SQLITE_OK)
    }

    deinit {
        _ = base.close()
        memory.deallocate()
        name.deallocate()
    }
}
