import GRDBSQLite

/// A file of the lower VFS, through which every byte goes to the disk.
struct BaseFile {
    let pointer: UnsafeMutablePointer<sqlite3_file>

    private var methods: sqlite3_io_methods { pointer.pointee.pMethods.pointee }

    func close() -> Int32 {
        guard pointer.pointee.pMethods != nil else { return SQLITE_OK }
        return methods.xClose(pointer)
    }

    func read(_ target: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int32 {
        methods.xRead(pointer, target, Int32(count), offset)
    }

    func write(_ source: UnsafeRawPointer, count: Int, at offset: Int64) -> Int32 {
        methods.xWrite(pointer, source, Int32(count), offset)
    }

    func truncate(_ size: Int64) -> Int32 { methods.xTruncate(pointer, size) }
    func sync(_ flags: Int32) -> Int32 { methods.xSync(pointer, flags) }
    func lock(_ level: Int32) -> Int32 { methods.xLock(pointer, level) }
    func unlock(_ level: Int32) -> Int32 { methods.xUnlock(pointer, level) }
    func sectorSize() -> Int32 { methods.xSectorSize(pointer) }
    func deviceCharacteristics() -> Int32 { methods.xDeviceCharacteristics(pointer) }

    func size() -> Int64? {
        var size: sqlite3_int64 = 0
        return methods.xFileSize(pointer, &size) == SQLITE_OK ? size : nil
    }

    func fileSize(_ result: UnsafeMutablePointer<sqlite3_int64>) -> Int32 { methods.xFileSize(pointer, result) }
    func reserved(_ result: UnsafeMutablePointer<Int32>) -> Int32 { methods.xCheckReservedLock(pointer, result) }
    func control(_ op: Int32, argument: UnsafeMutableRawPointer?) -> Int32 {
        methods.xFileControl(pointer, op, argument)
    }

    func shmMap(
        _ region: Int32, size: Int32, extend: Int32,
        result: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Int32 {
        // C declares a volatile pointer, which Swift imports as a plain pointer.
        methods.xShmMap(pointer, region, size, extend, result)
    }

    func shmLock(_ offset: Int32, count: Int32, flags: Int32) -> Int32 {
        methods.xShmLock(pointer, offset, count, flags)
    }

    func shmBarrier() { methods.xShmBarrier(pointer) }
    func shmUnmap(_ delete: Int32) -> Int32 { methods.xShmUnmap(pointer, delete) }
}
