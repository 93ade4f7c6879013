/// The running checksum of a write-ahead log (https://www.sqlite.org/fileformat2.html#checksum_algorithm).
///
/// SQLite computes the checksum over plaintext, and a checksum of plaintext reveals information about it. The file
/// therefore gets the same checksum computed over ciphertext.
struct FrameChecksum: Equatable {
    var first: UInt32
    var second: UInt32

    /// Reads a checksum from a frame's header, which stores it as big endian.
    init(stored: UnsafeRawPointer) {
        first = UInt32(bigEndian: stored.loadUnaligned(as: UInt32.self))
        second = UInt32(bigEndian: stored.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
    }

    func store(at target: UnsafeMutableRawPointer) {
        target.storeBytes(of: first.bigEndian, as: UInt32.self)
        target.storeBytes(of: second.bigEndian, toByteOffset: 4, as: UInt32.self)
    }

    /// Adds bytes to the checksum. Their number is a multiple of 8.
    ///
    /// - Parameter swapped: Whether the log's byte order differs from this machine's.
    mutating func add(_ bytes: UnsafeRawPointer, count: Int, swapped: Bool) {
        var (one, two) = (first, second)
        var offset = 0
        if swapped {
            while offset < count {
                one &+= bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self).byteSwapped &+ two
                two &+= bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self).byteSwapped &+ one
                offset += 8
            }
        } else {
            while offset < count {
                one &+= bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self) &+ two
                two &+= bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self) &+ one
                offset += 8
            }
        }
        (first, second) = (one, two)
    }
}
