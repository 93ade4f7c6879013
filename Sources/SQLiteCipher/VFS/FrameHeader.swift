/// The 24 bytes before a page in the write-ahead log (https://www.sqlite.org/fileformat2.html#walformat).
struct FrameHeader {
    /// The page number and, in the last frame of a transaction, the database's size in pages, in stored byte order.
    private let head: UInt64
    private let salt: UInt64
    var checksum: FrameChecksum

    init(_ bytes: UnsafeRawPointer) {
        head = bytes.loadUnaligned(as: UInt64.self)
        salt = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        checksum = FrameChecksum(stored: bytes + 16)
    }

    var page: UInt32 { withUnsafeBytes(of: head) { UInt32(bigEndian: $0.load(as: UInt32.self)) } }

    /// Whether it is the last frame of a transaction.
    var isCommit: Bool { withUnsafeBytes(of: head) { $0.load(fromByteOffset: 4, as: UInt32.self) } != 0 }

    /// Whether salt and checksum are zeros. SQLite omits them while a transaction writes pages a second time, and fills
    /// them in at the end.
    var isBlank: Bool { salt == 0 && checksum.first == 0 && checksum.second == 0 }

    func store(at target: UnsafeMutableRawPointer) {
        target.storeBytes(of: head, as: UInt64.self)
        target.storeBytes(of: salt, toByteOffset: 8, as: UInt64.self)
        checksum.store(at: target + 16)
    }

    /// Adds the part of the header that the checksum covers.
    func add(to checksum: inout FrameChecksum, swapped: Bool) {
        withUnsafeBytes(of: head) { if let start = $0.baseAddress { checksum.add(start, count: 8, swapped: swapped) } }
    }
}

extension FrameChecksum {
    /// Returns the checksum after another frame.
    func adding(header: FrameHeader, page: UnsafeRawPointer, pageSize: Int, swapped: Bool) -> FrameChecksum {
        var sum = self
        header.add(to: &sum, swapped: swapped)
        sum.add(page, count: pageSize, swapped: swapped)
        return sum
    }
}
