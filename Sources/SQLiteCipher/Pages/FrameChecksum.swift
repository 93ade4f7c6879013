/// The running checksum of a write-ahead log (https://www.sqlite.org/fileformat2.html#checksum_algorithm).
///
/// SQLite computes it over what it hands us, which is plaintext, and a checksum of plaintext tells about it. So what
/// reaches the disk is the same checksum over ciphertext.
struct FrameChecksum: Equatable {
    var first: UInt32
    var second: UInt32

    /// As a frame's header has it, big endian.
    init(stored: UnsafeRawPointer) {
        first = UInt32(bigEndian: stored.loadUnaligned(as: UInt32.self))
        second = UInt32(bigEndian: stored.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
    }

    func store(at target: UnsafeMutableRawPointer) {
        target.storeBytes(of: first.bigEndian, as: UInt32.self)
        target.storeBytes(of: second.bigEndian, toByteOffset: 4, as: UInt32.self)
    }

    /// Takes in more bytes, a multiple of 8.
    ///
    /// - Parameter swapped: whether the log's words have the other byte order than this machine's.
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
