import Foundation
import GRDBSQLite

/// The write-ahead log's index, kept in memory instead of in the `-shm` file.
///
/// SQLite maps the index and writes into it by itself, among other things the checksum of the last frame, which is one
/// over plaintext: with the rest of a page guessed, eight bytes of it can be computed from that. So the `-shm` file
/// serves for SQLite's locks, and holds only a random number; the index lies in a file of that name on a file system
/// that is memory (tmpfs), which all processes with the database open map.
final class SharedMemory {
    private static let folder = "/dev/shm"
    /// Not in the first bytes: the first process to open the database cuts the `-shm` file to 3 bytes, and so makes the
    /// number of a time before a crash void.
    private static let idOffset = 64

    private let base: BaseFile
    private let context: ConnectionContext
    private var descriptor: Int32 = -1
    private var name: String?
    private var isReadOnly = false
    /// How often a number led to no index.
    private var attempts = 0
    private var regions: [Int32: (memory: UnsafeMutableRawPointer, mapped: UnsafeMutableRawPointer, size: Int)] = [:]

    init(base: BaseFile, context: ConnectionContext) {
        self.base = base
        self.context = context
    }

    deinit {
        unmap(delete: false)
    }

    /// The start of the index, once SQLite has mapped it.
    var index: UnsafeRawPointer? { regions[0].map { UnsafeRawPointer($0.memory) } }

    func map(
        _ region: Int32, size: Int, extend: Bool, _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Int32 {
        result.pointee = nil
        if let known = regions[region] {
            result.pointee = known.memory
            return isReadOnly ? SQLITE_READONLY : SQLITE_OK
        }
        var anchor: UnsafeMutableRawPointer?
        let code = base.shmMap(0, Int32(size), extend ? 1 : 0, &anchor)
        guard code == SQLITE_OK || code == SQLITE_READONLY, let anchor else { return code }
        if descriptor < 0 {
            let opened = open(anchor, extend: extend && code == SQLITE_OK)
            if opened == SQLITE_BUSY { return lookAgain(holdsLocks: extend) }
            guard opened == SQLITE_OK, descriptor >= 0 else { return opened }
        }
        let mapped = mapRegion(region, size: size, extend: extend)
        guard mapped == SQLITE_OK else { return mapped }
        result.pointee = regions[region]?.memory
        return code == SQLITE_OK && isReadOnly ? SQLITE_READONLY : code
    }

    /// The number leads to no index: the process that had it was killed, and its index swept, just as we came.
    ///
    /// Another index must not be made beside it, as it may have been removed by hand while others have it mapped. But if
    /// nobody else has the `-shm` file open, whoever opens it next makes the number void. So it is closed, and SQLite,
    /// told that it is busy, tries again.
    private func lookAgain(holdsLocks: Bool) -> Int32 {
        attempts += 1
        guard attempts < 30 else { return fail("The index was removed while others use it.") }
        // SQLite begins without locks, and asks for the index to be extended when it has taken one.
        if !holdsLocks { _ = base.shmUnmap(0) }
        return SQLITE_BUSY
    }

    /// Opens the file that the number names, or makes one where there is none yet. SQLite lets only the holder of the
    /// write lock extend, so two can't make one at once.
    ///
    /// - Returns: `SQLITE_BUSY` if the number leads to no file that could be claimed.
    private func open(_ anchor: UnsafeMutableRawPointer, extend: Bool) -> Int32 {
        let id = anchor.load(fromByteOffset: Self.idOffset, as: UInt64.self)
        let check = anchor.load(fromByteOffset: Self.idOffset + 8, as: UInt64.self)
        if id != 0, check == ~id { return join(path(id)) }
        guard extend else { return SQLITE_OK }
        guard Self.isMemory else {
            return fail("\(Self.folder) is no file system in memory.")
        }
        IndexLitter.sweep(Self.folder, prefix: Self.commonPrefix)
        do {
            guard let fresh = try make() else { return fail("No index can be made (errno \(errno)).") }
            shareAsDatabase()
            anchor.storeBytes(of: ~fresh, toByteOffset: Self.idOffset + 8, as: UInt64.self)
            base.shmBarrier()
            anchor.storeBytes(of: fresh, toByteOffset: Self.idOffset, as: UInt64.self)
            base.shmBarrier()
            return SQLITE_OK
        } catch {
            return context.fail(error, code: SQLITE_IOERR_SHMOPEN)
        }
    }

    private func join(_ path: String) -> Int32 {
        let flags = O_CLOEXEC | O_NOFOLLOW
        var opened = Foundation.open(path, O_RDWR | flags)
        // Who may only read the database may only read its index.
        let isReadOnly = opened < 0 && errno == EACCES
        if isReadOnly { opened = Foundation.open(path, O_RDONLY | flags) }
        if opened < 0 { return errno == ENOENT ? SQLITE_BUSY : fail("\(path) can't be opened (errno \(errno)).") }
        guard IndexLitter.claim(opened) else {
            Foundation.close(opened)
            return SQLITE_BUSY
        }
        (descriptor, name, self.isReadOnly) = (opened, path, isReadOnly)
        return SQLITE_OK
    }

    /// Makes an index under a new number. It may be taken for litter before it is claimed, and then another is made.
    private func make() throws -> UInt64? {
        for _ in 0..<100 {
            let fresh = try RandomPool.bytes(8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } | 1
            let path = path(fresh)
            let made = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard made >= 0 else { return nil }
            if IndexLitter.claim(made) {
                (descriptor, name, isReadOnly) = (made, path, false)
                return fresh
            }
            Foundation.close(made)
        }
        return nil
    }

    private func mapRegion(_ region: Int32, size: Int, extend: Bool) -> Int32 {
        let end = (Int(region) + 1) * size
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return SQLITE_IOERR_SHMSIZE }
        if Int(status.st_size) < end {
            guard extend, !isReadOnly else { return SQLITE_OK }
            // Takes the room at once: a page that can't be had later would be a signal, not an error.
            guard posix_fallocate(descriptor, 0, off_t(end)) == 0 else {
                return context.fail(
                    CipherError(
                        .sharedMemory, "There is no room in \(Self.folder) for the index of the write-ahead log.",
                        advice: "Free memory there, or use a rollback journal."),
                    code: SQLITE_IOERR_SHMSIZE)
            }
        }
        // A region begins where the system's pages do, unless these are larger than it.
        let granule = Int(sysconf(Int32(_SC_PAGESIZE)))
        let lead = (end - size) % granule
        let access = isReadOnly ? PROT_READ : PROT_READ | PROT_WRITE
        guard let mapped = mmap(nil, lead + size, access, MAP_SHARED, descriptor, off_t(end - size - lead)),
            mapped != MAP_FAILED
        else { return fail("Its index can't be mapped (errno \(errno)).") }
        regions[region] = (mapped + lead, mapped, lead + size)
        return SQLITE_OK
    }

    /// The page that a frame of the log holds, as SQLite has it in the index (https://www.sqlite.org/walformat.html): two
    /// headers and 24 bytes of marks, the page numbers of 4,062 frames, a hash table; in each further region the numbers
    /// of 4,096 frames and a hash table.
    ///
    /// - Returns: `nil` if it is not known: SQLite keeps the index to itself in its exclusive locking mode.
    func page(ofFrame frame: Int) -> UInt32? {
        let marks = 136
        let first = (regionSize / 2 - marks) / 4
        let (region, place) =
            frame <= first
            ? (0, marks + 4 * (frame - 1))
            : (1 + (frame - first - 1) / 4096, 4 * ((frame - first - 1) % 4096))
        guard frame > 0, let memory = regions[Int32(region)]?.memory else { return nil }
        return memory.load(fromByteOffset: place, as: UInt32.self)
    }

    private let regionSize = 32_768

    func unmap(delete: Bool) {
        for region in regions.values { munmap(region.mapped, region.size) }
        regions = [:]
        if descriptor >= 0 { Foundation.close(descriptor) }
        descriptor = -1
        if delete, let name { unlink(name) }
        name = nil
    }

    // MARK: - Names

    private static let commonPrefix = "sqlitecipher-"

    /// A name that tells which database it belongs to.
    private func prefix() -> String {
        var status = stat()
        guard stat(context.path, &status) == 0 else { return "\(Self.commonPrefix)0-0-" }
        let (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
        return "\(Self.commonPrefix)\(String(device, radix: 16))-\(String(inode, radix: 16))-"
    }

    private func path(_ id: UInt64) -> String {
        "\(Self.folder)/\(prefix())\(String(id, radix: 16))"
    }

    /// Who may open the database may open its index.
    private func shareAsDatabase() {
        var status = stat()
        guard stat(context.path, &status) == 0 else { return }
        fchmod(descriptor, status.st_mode & 0o666)
        if geteuid() == 0 { _ = fchown(descriptor, status.st_uid, status.st_gid) }
    }

    private static let isMemory: Bool = {
        #if os(Linux)
            // The system's table of mounts: device, folder, type, options. `statfs` is not visible to Swift.
            guard let table = fopen("/proc/self/mounts", "re") else { return false }
            var line: UnsafeMutablePointer<CChar>?
            var room = 0
            defer {
                free(line)
                fclose(table)
            }
            var isMemory = false
            while getline(&line, &room, table) > 0, let start = line {
                let fields = String(cString: start).split(separator: " ", maxSplits: 3)
                // The last mount on a folder is the one that is seen.
                if fields.count > 2, fields[1] == folder { isMemory = fields[2] == "tmpfs" || fields[2] == "ramfs" }
            }
            return isMemory
        #else
            return false
        #endif
    }()

    private func fail(_ reason: String) -> Int32 {
        context.fail(
            CipherError(
                .sharedMemory, "The index of the write-ahead log can't be shared in memory. \(reason)",
                advice:
                    "Let all processes that open the database see the same \(Self.folder), or use a rollback journal."),
            code: SQLITE_IOERR_SHMOPEN)
    }
}
