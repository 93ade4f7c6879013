/// The header of the log's index, as the last holder of the write lock wrote it
/// (https://www.sqlite.org/walformat.html#the_wal_index_header). Each commit, recovery and restart of the log changes
/// it. It counts the commits, and holds the log's salts, the number of the last frame and the checksum there.
struct IndexHeader: Equatable {
    private let words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    /// Reads the header. Returns `nil` if its two copies differ, because a process died while it wrote them.
    ///
    /// - Parameter index: The start of the index. The caller holds the write lock.
    init?(_ index: UnsafeRawPointer) {
        typealias Words = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
        words = index.loadUnaligned(as: Words.self)
        let second = index.loadUnaligned(fromByteOffset: MemoryLayout<Words>.size, as: Words.self)
        guard words == second else { return nil }
    }

    /// The number of the last committed frame. The index has this machine's byte order.
    var lastFrame: Int { withUnsafeBytes(of: words) { Int($0.loadUnaligned(fromByteOffset: 16, as: UInt32.self)) } }

    static func == (one: IndexHeader, other: IndexHeader) -> Bool { one.words == other.words }
}
