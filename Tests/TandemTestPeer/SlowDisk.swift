import Foundation
import GRDBSQLite

/// A disk that is slow to flush.
///
/// After writing a commit's last page to the log, SQLite waits a while before it makes the commit visible. With
/// `synchronous=FULL`, it waits for the disk at the same point.
///
/// SQLite lets programs put their own functions in the place of the system's.
enum SlowDisk {
    // Set before the one thread that writes does, and used by it alone.
    private nonisolated(unsafe) static var microseconds: UInt32 = 0
    private nonisolated(unsafe) static var isLastPage = false
    private(set) nonisolated(unsafe) static var delays = 0

    private typealias Write = @convention(c) (Int32, UnsafeRawPointer?, Int) -> Int
    private typealias PositionedWrite = @convention(c) (Int32, UnsafeRawPointer?, Int, off_t) -> Int

    static func install(milliseconds: UInt32) {
        microseconds = milliseconds * 1000
        let vfs = sqlite3_vfs_find(nil)!
        let write: Write = { file, bytes, count in
            let written = Foundation.write(file, bytes, count)
            SlowDisk.wrote(bytes, count)
            return written
        }
        let positionedWrite: PositionedWrite = { file, bytes, count, offset in
            let written = pwrite(file, bytes, count, offset)
            SlowDisk.wrote(bytes, count)
            return written
        }
        _ = vfs.pointee.xSetSystemCall(vfs, "write", unsafeBitCast(write, to: sqlite3_syscall_ptr.self))
        for name in ["pwrite", "pwrite64"] {
            _ = vfs.pointee.xSetSystemCall(vfs, name, unsafeBitCast(positionedWrite, to: sqlite3_syscall_ptr.self))
        }
    }

    /// A frame of an encrypted log: a header of 24 bytes and a page.
    private static let frameSize = 24 + 4096

    /// A frame of the log is a header of 24 bytes, then a page; encrypted ones are written whole, several at once. The
    /// header of a commit's last one holds the database's size in its second word, the others zero.
    private static func wrote(_ bytes: UnsafeRawPointer?, _ count: Int) {
        let isWhole = count > 0 && count.isMultiple(of: frameSize)
        if count == 24 || isWhole, let bytes {
            let header = isWhole ? bytes + count - frameSize : bytes
            isLastPage = header.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0
        }
        if count != 24, isLastPage {
            isLastPage = false
            delays += 1
            usleep(microseconds)
        }
    }
}
