import Foundation
import GRDBSQLite

/// A temporary file: sorter runs, statement journals, temporary tables, or the new database while VACUUM builds it.
///
/// SQLite would write these files as plaintext to the system's temporary folder. They have no name and a single reader,
/// so they stay in memory.
final class MemoryFile: VFSFile {
    private var blocks: [UnsafeMutableRawPointer] = []
    private var size = 0
    private static let blockSize = 1 << 16

    deinit {
        drop(to: 0)
    }

    private func drop(to count: Int) {
        while blocks.count > count, let block = blocks.popLast() {
            UnsafeMutableRawBufferPointer(start: block, count: Self.blockSize).wipe()
            free(block)
        }
    }

    override func close() -> Int32 {
        drop(to: 0)
        size = 0
        return SQLITE_OK
    }

    /// Calls `body` with each piece of memory in a range of the file.
    private func forEach(_ offset: Int, count: Int, body: (UnsafeMutableRawPointer, Int, Int) -> Void) {
        var done = 0
        while done < count {
            let place = offset + done
            let within = place % Self.blockSize
            let length = min(count - done, Self.blockSize - within)
            body(blocks[place / Self.blockSize] + within, done, length)
            done += length
        }
    }

    override func read(_ target: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int32 {
        let available = max(0, min(count, size - Int(offset)))
        forEach(Int(offset), count: available) { memory, done, length in memcpy(target + done, memory, length) }
        guard available < count else { return SQLITE_OK }
        memset(target + available, 0, count - available)
        return SQLITE_IOERR_SHORT_READ
    }

    override func write(_ source: UnsafeRawPointer, count: Int, at offset: Int64) -> Int32 {
        let end = Int(offset) + count
        while blocks.count * Self.blockSize < end {
            // A failed Swift allocation would end the process. SQLite accepts an error.
            guard let block = calloc(1, Self.blockSize) else { return SQLITE_IOERR_NOMEM }
            blocks.append(block)
        }
        forEach(Int(offset), count: count) { memory, done, length in memcpy(memory, source + done, length) }
        size = max(size, end)
        return SQLITE_OK
    }

    override func truncate(_ newSize: Int64) -> Int32 {
        guard newSize < size else { return SQLITE_OK }
        size = Int(newSize)
        drop(to: (size + Self.blockSize - 1) / Self.blockSize)
        // The bytes beyond the end must read as zeros when the file grows again.
        if let last = blocks.last, size % Self.blockSize != 0 {
            memset(last + size % Self.blockSize, 0, Self.blockSize - size % Self.blockSize)
        }
        return SQLITE_OK
    }

    override func sync(_ flags: Int32) -> Int32 { SQLITE_OK }
    override func fileSize(_ result: UnsafeMutablePointer<sqlite3_int64>) -> Int32 {
        result.pointee = sqlite3_int64(size)
        return SQLITE_OK
    }
    override func lock(_ level: Int32) -> Int32 { SQLITE_OK }
    override func unlock(_ level: Int32) -> Int32 { SQLITE_OK }
    override func reserved(_ result: UnsafeMutablePointer<Int32>) -> Int32 {
        result.pointee = 0
        return SQLITE_OK
    }
    override func control(_ op: Int32, argument: UnsafeMutableRawPointer?) -> Int32 { SQLITE_NOTFOUND }
    override func sectorSize() -> Int32 { 4096 }
    override func deviceCharacteristics() -> Int32 { SQLITE_IOCAP_POWERSAFE_OVERWRITE }
}
