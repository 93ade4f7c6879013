import Foundation
import GRDBSQLite

/// The write-ahead log's index, kept in memory instead of in the `-shm` file.
///
/// SQLite maps the index and writes into it by itself, among other things the checksum of the last frame, which is one
/// over plaintext: with the rest of a page guessed, eight bytes of it can be computed from that. So the `-shm` file
/// serves for SQLite's locks, and holds only a random number that leads to the index.
///
/// | number | the index is | for |
/// | --- | --- | --- |
/// | odd | a file on a file system in memory, with the number in its name: ``FileIndex`` | all processes that see it |
/// | even | memory of the process that made it: ``HeapIndex`` | that process alone |
///
/// The number decides for all processes. A process never makes an index beside one that a number names, even if it
/// can't see that one: it gets an error. So two processes never use two indexes for one log, whichever folders they see.
final class SharedMemory {
    /// Not in the first bytes: the first process to open the database cuts the `-shm` file to 3 bytes, and so makes the
    /// number of a time before a crash void.
    private static let idOffset = 64
    private static let patience = 30

    private let base: BaseFile
    private let context: ConnectionContext
    private var memory: (any IndexMemory)?
    private var regions: [Int32: UnsafeMutableRawPointer] = [:]
    /// How often a number led to no index.
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
        _ region: Int32, size: Int, extend: Bool, _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Int32 {
        result.pointee = nil
        if let known = regions[region], let memory {
            result.pointee = known
            return memory.isReadOnly ? SQLITE_READONLY : SQLITE_OK
        }
        var anchor: UnsafeMutableRawPointer?
        let code = base.shmMap(0, Int32(size), extend ? 1 : 0, &anchor)
        guard code == SQLITE_OK || code == SQLITE_READONLY, let anchor else { return code }
        if memory == nil {
            let opened = open(anchor, holdsLocks: extend, extend: extend && code == SQLITE_OK)
            guard opened == SQLITE_OK else { return opened }
        }
        guard let memory else { return SQLITE_OK }
        var start: UnsafeMutableRawPointer?
        let mapped = memory.map(Int(region), size: size, extend: extend, &start)
        guard mapped == SQLITE_OK else { return mapped }
        regions[region] = start
        result.pointee = start
        return code == SQLITE_OK && memory.isReadOnly ? SQLITE_READONLY : code
    }

    /// Opens the index that the number names, or makes one if there is no number yet. SQLite lets only the holder of
    /// the write lock extend, so two can't make one at once.
    private func open(_ anchor: UnsafeMutableRawPointer, holdsLocks: Bool, extend: Bool) -> Int32 {
        let id = anchor.load(fromByteOffset: Self.idOffset, as: UInt64.self)
        let check = anchor.load(fromByteOffset: Self.idOffset + 8, as: UInt64.self)
        do {
            if id != 0, check == ~id {
                let isHeap = id.isMultiple(of: 2)
                memory = isHeap ? HeapIndex.find(id) : try FileIndex.find(id, context: context)
                return memory == nil ? lookAgain(holdsLocks: holdsLocks, isHeap: isHeap) : SQLITE_OK
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

    /// The number leads to no index. Another process has it in its own memory, or in a file that this one can't see; or
    /// the process that had it was killed, and its file swept, just as we came.
    ///
    /// Another index must not be made beside it, as others may use it. But if no other process has the `-shm` file
    /// open, the next to open it makes the number void. So it is closed, and SQLite, told that it is busy, tries again.
    private func lookAgain(holdsLocks: Bool, isHeap: Bool) -> Int32 {
        attempts += 1
        guard attempts < Self.patience else {
            let error = isHeap ? heldElsewhere : Self.failure("Other processes use one that this process can't find.")
            return context.fail(error, code: SQLITE_IOERR_SHMOPEN)
        }
        // SQLite begins without locks, and asks for the index to be extended when it has taken one.
        if !holdsLocks { _ = base.shmUnmap(0) }
        return SQLITE_BUSY
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
        guard frame > 0, let memory = regions[Int32(region)] else { return nil }
        return memory.load(fromByteOffset: place, as: UInt32.self)
    }

    private let regionSize = 32_768

    /// Ends this connection's use of the index.
    ///
    /// - Returns: The index, to be held until the `-shm` file is closed too: until then a connection of this process
    ///   may come that finds the number.
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
            .sharedMemory, "The index of the write-ahead log can't be shared in memory. \(reason)",
            advice: "Let all processes that open the database see the same /dev/shm, or use a rollback journal.")
    }

    private var heldElsewhere: CipherError {
        CipherError(
            .busy,
            "Another process has the database open, and has the index of the write-ahead log in its own memory: "
                + "it found no file system in memory to share it in.",
            advice: "Close the database there, or let all processes that open it see the same /dev/shm.")
    }
}
