/// A growing buffer of bytes that begins in memory of its user, such as the stack.
struct KeyBuffer: ~Copyable {
    private(set) var bytes: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity: Int
    private var isOwned = false

    /// - Precondition: `memory` lives as long as the buffer, and has 16 bytes or more.
    init(_ memory: UnsafeMutableBufferPointer<UInt8>) {
        bytes = memory.baseAddress!
        capacity = memory.count
    }

    deinit {
        if isOwned { bytes.deallocate() }
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        if count == capacity { grow() }
        bytes[count] = byte
        count += 1
    }

    /// Appends the first `length` bytes of a number with three.
    @inline(__always)
    mutating func append(_ value: UInt32, length: Int) {
        if count + 3 > capacity { grow() }
        bytes[count] = UInt8(truncatingIfNeeded: value >> 16)
        bytes[count + 1] = UInt8(truncatingIfNeeded: value >> 8)
        bytes[count + 2] = UInt8(truncatingIfNeeded: value)
        count += length
    }

    mutating func append(_ other: borrowing KeyBuffer) {
        while count + other.count > capacity { grow() }
        (bytes + count).update(from: other.bytes, count: other.count)
        count += other.count
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * 2)
        larger.update(from: bytes, count: count)
        if isOwned { bytes.deallocate() }
        bytes = larger
        capacity *= 2
        isOwned = true
    }
}
