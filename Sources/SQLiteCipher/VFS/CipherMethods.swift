import GRDBSQLite

/// The function table through which SQLite calls a `VFSFile`.
enum CipherMethods {
    /// Returns the object behind a file of this VFS.
    static func file(_ pointer: UnsafeMutablePointer<sqlite3_file>) -> VFSFile {
        let reference = (UnsafeMutableRawPointer(pointer) + 8).load(as: UnsafeMutableRawPointer.self)
        return Unmanaged<VFSFile>.fromOpaque(reference).takeUnretainedValue()
    }

    private static func release(_ pointer: UnsafeMutablePointer<sqlite3_file>) {
        let reference = (UnsafeMutableRawPointer(pointer) + 8).load(as: UnsafeMutableRawPointer.self)
        Unmanaged<VFSFile>.fromOpaque(reference).release()
        pointer.pointee.pMethods = nil
    }

    // Proof: the table is filled in once, and only read after that. Version 2 has shared memory but no memory-mapped
    // pages, whose reads would bypass this VFS.
    nonisolated(unsafe) static let table: UnsafeMutablePointer<sqlite3_io_methods> = {
        let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        table.initialize(to: sqlite3_io_methods())
        table.pointee.iVersion = 2
        setFileMethods(table)
        setSharedMemoryMethods(table)
        return table
    }()

    private static func setFileMethods(_ table: UnsafeMutablePointer<sqlite3_io_methods>) {
        table.pointee.xClose = { pointer in
            guard let pointer else { return SQLITE_MISUSE }
            let code = CipherMethods.file(pointer).close()
            CipherMethods.release(pointer)
            return code
        }
        table.pointee.xRead = { pointer, target, count, offset in
            guard let pointer, let target else { return SQLITE_MISUSE }
            return CipherMethods.file(pointer).read(target, count: Int(count), at: offset)
        }
        table.pointee.xWrite = { pointer, source, count, offset in
            guard let pointer, let source else { return SQLITE_MISUSE }
            return CipherMethods.file(pointer).write(source, count: Int(count), at: offset)
        }
        table.pointee.xTruncate = { pointer, size in
            guard let pointer else { return SQLITE_MISUSE }
            return CipherMethods.file(pointer).truncate(size)
        }
        table.pointee.xSync = { pointer, flags in
            guard let pointer else { return SQLITE_MISUSE }
            return CipherMethods.file(pointer).sync(flags)
        }
        table.pointee.xFileSize = { pointer, result in
            guard let pointer, let result else { return SQLITE_MISUSE }
            return CipherMethods.file(pointer).fileSize(result)
        }
        table.pointee.xLock = { pointer, level in
            guard let pointer else { return SQLITE_MISUSE }
            return CipherMethods.file(pointer).lock(level)
        }
        table.pointee.xUnlock = { pointer, level in
            guard let pointer else { return SQLITE_MISUSE }
            return CipherMethods.file(pointer).unlock(level)
        }
        table.pointee.xCheckReservedLock = { pointer, result in
            guard let pointer, let result else { return SQLITE_MISUSE }
            return CipherMethods.file(pointer).reserved(result)
        }
        table.pointee.xFileControl = { pointer, op, argument in
            guard let pointer else { return SQLITE_MISUSE }
            return CipherMethods.file(pointer).control(op, argument: argument)
        }
        table.pointee.xSectorSize = { pointer in
            guard let pointer else { return 512 }
            return CipherMethods.file(pointer).sectorSize()
        }
        table.pointee.xDeviceCharacteristics = { pointer in
            guard let pointer else { return 0 }
            return CipherMethods.file(pointer).deviceCharacteristics()
        }
    }

    private static func setSharedMemoryMethods(_ table: UnsafeMutablePointer<sqlite3_io_methods>) {
        table.pointee.xShmMap = { pointer, region, size, extend, result in
            guard let pointer, let result else { return SQLITE_MISUSE }
            return CipherMethods.file(pointer).shmMap(region, size: size, extend: extend, result: result)
        }
        table.pointee.xShmLock = { pointer, offset, count, flags in
            guard let pointer else { return SQLITE_MISUSE }
            return CipherMethods.file(pointer).shmLock(offset, count: count, flags: flags)
        }
        table.pointee.xShmBarrier = { pointer in
            guard let pointer else { return }
            CipherMethods.file(pointer).shmBarrier()
        }
        table.pointee.xShmUnmap = { pointer, delete in
            guard let pointer else { return SQLITE_MISUSE }
            return CipherMethods.file(pointer).shmUnmap(delete)
        }
    }
}
