import Foundation
import GRDBSQLite
import Synchronization

/// The index of a write-ahead log in the memory of this process.
///
/// It is used if no file system in memory can hold the index.
///
/// All connections of the process to the same database share an index. Another process can't see it. That process finds
/// the number in the `-shm` file, does not find the index, and is refused: see ``SharedMemory``.
final class HeapIndex: IndexMemory, Sendable {
    let id: UInt64
    let isReadOnly = false

    /// An allocation for a region of the index.
    ///
    /// Proof of `@unchecked Sendable`: the struct is immutable. `map` gives its address to SQLite. SQLite orders
    /// accesses to the memory with its own locks and barriers, as in a `-shm` file. Only `deinit` frees the memory,
    /// after the last connection has released the index.
    private struct Region: @unchecked Sendable {
        let memory: UnsafeMutableRawBufferPointer
    }
    private let regions = Mutex<[Region]>([])
    /// The fork generation. A forked process has a copy of the memory, which it must not use as the index.
    private let generation = ForkDetector.generation

    private struct Weak: Sendable {
        weak let index: HeapIndex?
    }
    private static let known = Mutex<[UInt64: Weak]>([:])

    /// Creates an empty index that ``find(_:)`` finds while a connection uses it.
    init() throws {
        // The number is even, and not 0: see `SharedMemory`.
        id = try RandomPool.bytes(8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } & ~1 | 2
        Self.known.withLock { $0[id] = Weak(index: self) }
    }

    deinit {
        Self.known.withLock { $0[id] = nil }
        for region in regions.withLock({ $0 }) {
            region.memory.wipe()
            free(region.memory.baseAddress)
        }
    }

    /// Finds an index of this process.
    static func find(_ id: UInt64) -> HeapIndex? {
        guard let index = known.withLock({ $0[id]?.index }), index.generation == ForkDetector.generation else {
            return nil
        }
        return index
    }

    func map(_ region: Int, size: Int, extend: Bool, result: inout UnsafeMutableRawPointer?) -> Int32 {
        let found: Region? = regions.withLock { regions in
            while extend, regions.count <= region {
                // SQLite accepts an error if memory runs out. A failed Swift allocation would end the process.
                guard let memory = calloc(1, size) else { return nil }
                regions.append(Region(memory: UnsafeMutableRawBufferPointer(start: memory, count: size)))
            }
            return region < regions.count ? regions[region] : nil
        }
        result = found?.memory.baseAddress
        return found == nil && extend ? SQLITE_IOERR_NOMEM : SQLITE_OK
    }

    /// Does nothing: the regions are freed when the last connection releases the index.
    func unmap(delete: Bool) {}
}
