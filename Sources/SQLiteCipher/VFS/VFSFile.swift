import GRDBSQLite

/// The base class of an open file's methods. It passes every call through. Two kinds of files use it directly:
/// super-journals, which hold only the names of journals, and journals that are only inspected.
class VFSFile {
    let base: BaseFile

    init(base: BaseFile) {
        self.base = base
    }

    func close() -> Int32 { base.close() }
    func read(_ target: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int32 {
        base.read(target, count: count, at: offset)
    }
    func write(_ source: UnsafeRawPointer, count: Int, at offset: Int64) -> Int32 {
        base.write(source, count: count, at: offset)
    }
    func truncate(_ size: Int64) -> Int32 { base.truncate(size) }
    func sync(_ flags: Int32) -> Int32 { base.sync(flags) }
    func fileSize(_ result: UnsafeMutablePointer<sqlite3_int64>) -> Int32 { base.fileSize(result) }
    func lock(_ level: Int32) -> Int32 { base.lock(level) }
    func unlock(_ level: Int32) -> Int32 { base.unlock(level) }
    func reserved(_ result: UnsafeMutablePointer<Int32>) -> Int32 { base.reserved(result) }
    func control(_ op: Int32, argument: UnsafeMutableRawPointer?) -> Int32 { base.control(op, argument: argument) }
    func sectorSize() -> Int32 { base.sectorSize() }

    /// Reports that small overwrites are safe, and that atomic writes are not available. Otherwise SQLite would write
    /// journals and logs in forms that this VFS does not support.
    func deviceCharacteristics() -> Int32 {
        let atomic =
            SQLITE_IOCAP_ATOMIC | SQLITE_IOCAP_ATOMIC512 | SQLITE_IOCAP_ATOMIC1K | SQLITE_IOCAP_ATOMIC2K
            | SQLITE_IOCAP_ATOMIC4K | SQLITE_IOCAP_ATOMIC8K | SQLITE_IOCAP_ATOMIC16K | SQLITE_IOCAP_ATOMIC32K
            | SQLITE_IOCAP_ATOMIC64K | SQLITE_IOCAP_BATCH_ATOMIC
        return base.deviceCharacteristics() & ~atomic | SQLITE_IOCAP_POWERSAFE_OVERWRITE
    }

    func shmMap(
        _ region: Int32, size: Int32, extend: Int32,
        result: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Int32 { SQLITE_IOERR_SHMMAP }
    func shmLock(_ offset: Int32, count: Int32, flags: Int32) -> Int32 { SQLITE_IOERR_SHMLOCK }
    func shmBarrier() {}
    func shmUnmap(_ delete: Int32) -> Int32 { SQLITE_OK }
}
