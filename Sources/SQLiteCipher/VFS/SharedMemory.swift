import Foundation
import GRDBSQLite

/// The write-ahead log's index, kept in memory instead of in the `-shm` file.
///
/// SQLite maps the index and writes to it directly. It also writes the last frame's checksum over plaintext. An
/// attacker who guesses the rest of a page can compute eight of its bytes from that. The `-shm` file therefore serves
/// only for SQLite's locks, and holds a random number that identifies the index.
///
/// | number | the index is | for |
/// | --- | --- | --- |
/// | odd | a file on a file system in memory, with the number in its name: ``FileIndex`` | all processes that see it |
/// | even | memory of the process that created it: ``HeapIndex`` | that process alone |
///
/// The number decides for all processes. If a number exists, a process never creates another index. If it can't find
/// the index with that number, it gets an error. Two processes therefore never use two indexes for the same log,
/// whichever folders they see.
final class SharedMemory {
    /// The offset of the number in the `-shm` file. The first process to open the database truncates the file to 3
    /// bytes. A number from before a crash is thereby lost, because it is beyond them.
    private static let idOffset = 64
    private static let patience = 30

    private let base: BaseFile
    private let context: ConnectionContext
    private var memory: (any IndexMemory)?
    private var regions: [Int32: UnsafeMutableRawPointer] = [:]
    /// The number of failed attempts to find the index with the number.
    private var attempts = 0

    init(base: BaseFile, context: ConnectionContext) {
        self.base = base
        self.context = context
    }

    deinit {
        unmap(delete: false)
    }

    /// The start of the index, once SQLite has mapped it.
    var index: UnsafeRawPointer? { regions[0].map { UnsafeRawPointer($0) } }

    func map(
        _ region: Int32, size: Int, extend: Bool, result: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Int32 {
        result.pointee = nil
        if let known = regions[region], let memory {
            result.pointee = known
            return memory.isReadOnly ? SQLITE_READONLY : SQLITE_OK
        }
        var anchor: UnsafeMutableRawPointer?
        let code = base.shmMap(0, size: Int32(size), extend: extend ? 1 : 0, result: &anchor)
        guard code == SQLITE_OK || code == SQLITE_READONLY, let anchor else { return code }
        if memory == nil {
            let opened = open(anchor, holdsLocks: extend, extend: extend && code == SQLITE_OK)
            guard opened == SQLITE_OK else { return opened }
        }
        guard let memory else { return SQLITE_OK }
        var start: UnsafeMutableRawPointer?
        let mapped = memory.map(Int(region), size: size, extend: extend, result: &start)
        guard mapped == SQLITE_OK else { return mapped }
        regions[region] = start
        result.pointee = start
        return code == SQLITE_OK && memory.isReadOnly ? SQLITE_READONLY : code
    }

    /// Opens the index with the stored number, or creates an index if there is no number yet.
    ///
    /// SQLite lets only the holder of the write lock extend the index. So two connections can't create an index at the
    /// same time.
    private func open(_ anchor: UnsafeMutableRawPointer, holdsLocks: Bool, extend: Bool) -> Int32 {
        let id = anchor.load(fromByteOffset: Self.idOffset, as: UInt64.self)
        let check = anchor.load(fromByteOffset: Self.idOffset + 8, as: UInt64.self)
        do {
            if id != 0, check == ~id {
                let isHeap = id.isMultiple(of: 2)
                memory = isHeap ? HeapIndex.find(id) : try FileIndex.find(id, context: context)
                return memory == nil ? recheck(holdsLocks: holdsLocks, isHeap: isHeap) : SQLITE_OK
            }
            guard extend else { return SQLITE_OK }
            let made: any IndexMemory = try FileIndex.make(context: context) ?? HeapIndex()
            anchor.storeBytes(of: ~made.id, toByteOffset: Self.idOffset + 8, as: UInt64.self)
            base.shmBarrier()
            anchor.storeBytes(of: made.id, toByteOffset: Self.idOffset, as: UInt64.self)
            base.shmBarrier()
            memory = made
            return SQLITE_OK
        } catch {
            return context.fail(error, code: SQLITE_IOERR_SHMOPEN)
        }
    }

    /// Handles a number without an index. Another process has the index in its own memory, or in a file that this
    /// process can't see. Or the process that had it was killed, and its file was just removed.
    ///
    /// This must not create another index, because other processes may use the existing one. But if no other process
    /// has the `-shm` file open, the next process to open it discards the number. So this closes the file and returns
    /// `SQLITE_BUSY`, and SQLite tries again.
    private func recheck(holdsLocks: Bool, isHeap: Bool) -> Int32 {
        attempts += 1
        guard attempts < Self.patience else {
            let error =
                isHeap ? heldElsewhere : Self.failure("Other processes use an index that this process can't find.")
            return context.fail(error, code: SQLITE_IOERR_SHMOPEN)
        }
        // SQLite begins without locks. It asks for the index to be extended after it has taken a lock.
        if !holdsLocks { _ = base.shmUnmap(0) }
        return SQLITE_BUSY
    }

    /// Returns the page in a frame of the log, as recorded in the index (https://www.sqlite.org/walformat.html). The
    /// first region has two headers, 24 bytes of marks, the page numbers of 4,062 frames, and a hash table. Each
    /// further region has the page numbers of 4,096 frames, and a hash table.
    ///
    /// - Returns: `nil` if the page is unknown. SQLite keeps the index private in its exclusive locking mode.
    func page(ofFrame frame: Int) -> UInt32? {
        let marks = 136
        let first = (regionSize / 2 - marks) / 4
        let (region, place) =
            frame <= first
            ? (0, marks + 4 * (frame - 1))
            : (1 + (frame - first - 1) / 4096, 4 * ((frame - first - 1) % 4096))
        guard frame > 0, let memory = regions[Int32(region)] else { return nil }
        return memory.load(fromByteOffset: place, as: UInt32.self)
    }

    private let regionSize = 32_768

    /// Ends this connection's use of the index.
    ///
    /// - Returns: The index. The caller must hold it until the `-shm` file is closed too. Until then, another
    ///   connection of this process may find the number.
    @discardableResult
    func unmap(delete: Bool) -> (any IndexMemory)? {
        regions = [:]
        memory?.unmap(delete: delete)
        defer { memory = nil }
        return memory
    }

    // MARK: - Errors

    static func failure(_ reason: String) -> CipherError {
        CipherError(
            .sharedMemory, message: "The index of the write-ahead log can't be shared in memory. \(reason)",
            advice: "Let all processes that open the database see the same /dev/shm, or use a rollback journal.")
    }

    private var heldElsewhere: CipherError {
        CipherError(
            .busy,
            message:
                "Another process has the database open, and has the index of the write-ahead log in its own memory: "
                + "it found no file system in memory to share it.",
            advice: "Close the database there, or let all processes that open it see the same /dev/shm.")
    }
}
