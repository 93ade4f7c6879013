/// What the log's index says of the log, as the holder of the write lock left it
/// (https://www.sqlite.org/walformat.html#the_wal_index_header). Each commit, recovery and restart of the log changes
/// it: it counts the commits, and has the log's salts, its last frame and the checksum there.
struct IndexHeader: Equatable {
    private let words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    /// Reads the header; `nil` if its two copies differ, and so somebody died while writing it.
    ///
    /// - Parameter index: the start of the index. The write lock must be held.
    init?(_ index: UnsafeRawPointer) {
        typealias Words = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
        words = index.loadUnaligned(as: Words.self)
        let second = index.loadUnaligned(fromByteOffset: MemoryLayout<Words>.size, as: Words.self)
        guard words == second else { return nil }
    }

    /// The last frame that was committed. The index is in this machine's byte order.
    var lastFrame: Int { withUnsafeBytes(of: words) { Int($0.loadUnaligned(fromByteOffset: 16, as: UInt32.self)) } }

    static func == (one: IndexHeader, other: IndexHeader) -> Bool { one.words == other.words }
}
