import Foundation
import GRDBSQLite

/// The index of a write-ahead log in a file on a file system in memory. All processes with the database open map it.
final class FileIndex: IndexMemory {
    let id: UInt64
    let isReadOnly: Bool
    private let context: ConnectionContext
    private let path: String
    private var descriptor: Int32
    private var mapped: [(start: UnsafeMutableRawPointer, size: Int)] = []

    private init(id: UInt64, context: ConnectionContext, path: String, descriptor: Int32, isReadOnly: Bool) {
        self.id = id
        self.context = context
        self.path = path
        self.descriptor = descriptor
        self.isReadOnly = isReadOnly
    }

    deinit {
        unmap(delete: false)
    }

    /// Opens the file with a given number, in whichever folder it is. The number is random, so no other file has it.
    ///
    /// - Returns: `nil` if no file could be found and claimed.
    static func find(_ id: UInt64, context: ConnectionContext) throws -> FileIndex? {
        var obstacle: (path: String, reason: Int32)?
        for folder in context.entry.indexFolders {
            let path = path(id, in: folder, context: context)
            let flags = O_CLOEXEC | O_NOFOLLOW
            var opened = open(path, O_RDWR | flags)
            // A user with read-only access to the database has read-only access to its index.
            let isReadOnly = opened < 0 && errno == EACCES
            if isReadOnly { opened = open(path, O_RDONLY | flags) }
            guard opened >= 0 else {
                if errno != ENOENT, errno != ENOTDIR { obstacle = obstacle ?? (path, errno) }
                continue
            }
            guard StaleIndexFiles.claim(opened) else {
                close(opened)
                return nil
            }
            return FileIndex(id: id, context: context, path: path, descriptor: opened, isReadOnly: isReadOnly)
        }
        if let obstacle {
            throw SharedMemory.failure("\(obstacle.path) can't be opened (errno \(obstacle.reason)).")
        }
        return nil
    }

    /// Creates an index with a new number, in the first suitable folder.
    ///
    /// - Returns: `nil` if no folder is suitable.
    static func make(context: ConnectionContext) throws -> FileIndex? {
        for folder in context.entry.indexFolders where IndexFolders.isFit(folder) {
            StaleIndexFiles.sweep(folder, prefix: commonPrefix)
            if let made = try make(in: folder, context: context) { return made }
        }
        return nil
    }

    /// - Returns: `nil` if a file can't be created in the folder under any name.
    private static func make(in folder: String, context: ConnectionContext) throws -> FileIndex? {
        // Another process may remove the file as stale before it is claimed. Try again with another file.
        for _ in 0..<100 {
            // The number is odd: see `SharedMemory`.
            let id = try RandomPool.bytes(8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } | 1
            let path = path(id, in: folder, context: context)
            let made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard made >= 0 else {
                if [ENOENT, ENOTDIR, EACCES, EPERM, EROFS].contains(errno) { return nil }
                break
            }
            if StaleIndexFiles.claim(made) {
                shareAsDatabase(made, context: context)
                return FileIndex(id: id, context: context, path: path, descriptor: made, isReadOnly: false)
            }
            close(made)
        }
        throw SharedMemory.failure("An index can't be created in \(folder) (errno \(errno)).")
    }

    func map(_ region: Int, size: Int, extend: Bool, result: inout UnsafeMutableRawPointer?) -> Int32 {
        let end = (region + 1) * size
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return SQLITE_IOERR_SHMSIZE }
        if Int(status.st_size) < end {
            guard extend, !isReadOnly else { return SQLITE_OK }
            // Allocate the space now. If memory ran out later, the access would raise a signal instead of an error.
            guard posix_fallocate(descriptor, 0, off_t(end)) == 0 else {
                return context.fail(
                    CipherError(
                        .sharedMemory,
                        message: "There is not enough memory for the index of the write-ahead log: \(path).",
                        advice: "Free memory there, or use a rollback journal."),
                    code: SQLITE_IOERR_SHMSIZE)
            }
        }
        // A region begins at a system page, unless system pages are larger than the region.
        let granule = Int(sysconf(Int32(_SC_PAGESIZE)))
        let lead = (end - size) % granule
        let access = isReadOnly ? PROT_READ : PROT_READ | PROT_WRITE
        guard let start = mmap(nil, lead + size, access, MAP_SHARED, descriptor, off_t(end - size - lead)),
            start != MAP_FAILED
        else {
            return context.fail(
                SharedMemory.failure("The index can't be mapped (errno \(errno))."), code: SQLITE_IOERR_SHMOPEN)
        }
        mapped.append((start, lead + size))
        result = start + lead
        return SQLITE_OK
    }

    func unmap(delete: Bool) {
        for part in mapped { munmap(part.start, part.size) }
        mapped = []
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        if delete { unlink(path) }
    }

    // MARK: - Names

    private static let commonPrefix = "sqlitecipher-"

    /// Returns the path of an index. Its name includes the database's device and inode.
    private static func path(_ id: UInt64, in folder: String, context: ConnectionContext) -> String {
        var status = stat()
        let isKnown = stat(context.path, &status) == 0
        let (device, inode) = isKnown ? (UInt64(status.st_dev), UInt64(status.st_ino)) : (0, 0)
        let parts = [device, inode, id].map { String($0, radix: 16) }
        return "\(folder)/\(commonPrefix)\(parts.joined(separator: "-"))"
    }

    /// Gives the users that may open the database access to its index.
    private static func shareAsDatabase(_ descriptor: Int32, context: ConnectionContext) {
        var status = stat()
        guard stat(context.path, &status) == 0 else { return }
        fchmod(descriptor, status.st_mode & 0o666)
        if geteuid() == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
    }
}
