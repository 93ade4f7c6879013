/// An encoder for the blobs of the operation queue. Counts and lengths are LEB128. Integers and reals are 8 bytes,
/// big-endian. Texts and blobs follow their length in bytes. See StorageFormat.md.
struct PackedWriter {
    private(set) var bytes: [UInt8]

    /// - Parameters:
    ///   - version: The blob's first byte.
    ///   - capacity: The expected number of bytes.
    init(version: UInt8, capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
        bytes.append(version)
    }

    mutating func append(byte: UInt8) {
        bytes.append(byte)
    }

    mutating func append(count: Int) {
        var rest = UInt64(count)
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    mutating func append(text: String) {
        append(count: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends bytes after their length, as those of a text or a blob.
    mutating func append(counted raw: UnsafeRawBufferPointer) {
        append(count: raw.count)
        bytes.append(contentsOf: raw)
    }

    /// Appends bytes without their length. The decoder knows the length.
    mutating func append(raw: [UInt8]) {
        bytes.append(contentsOf: raw)
    }

    /// Appends a value: a byte for its storage class (0 NULL, 1 integer, 2 real, 3 text, 4 blob), and its content.
    mutating func append(_ value: StorageValue) {
        switch value {
        case .null: bytes.append(0)
        case .integer(let value):
            bytes.append(1)
            append(word: UInt64(bitPattern: value))
        case .real(let value):
            bytes.append(2)
            append(word: value.bitPattern)
        case .text(let text):
            bytes.append(3)
            append(text: text)
        case .blob(let blob):
            bytes.append(4)
            append(count: blob.count)
            bytes.append(contentsOf: blob)
        }
    }

    private mutating func append(word: UInt64) {
        withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

/// A decoder for the output of a ``PackedWriter``. Every read throws ``InvalidEncoding`` if the bytes are not valid:
/// they come from a file, which may be damaged.
struct PackedReader {
    private let bytes: UnsafeRawBufferPointer
    private let what: String
    private var position = 0

    /// - Parameter what: A description of the bytes, for messages.
    init(_ bytes: UnsafeRawBufferPointer, of what: String, version: UInt8) throws {
        self.bytes = bytes
        self.what = what
        guard try byte() == version else { throw failure("the version is unknown") }
    }

    func failure(_ problem: String) -> InvalidEncoding {
        InvalidEncoding(what, code: .malformed, problem: problem, at: position)
    }

    mutating func byte() throws -> UInt8 {
        guard position < bytes.count else { throw failure("the bytes end early") }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func count() throws -> Int {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 56 else { throw failure("a length is too large") }
            value |= UInt64(next & 0x7F) << shift
            if next & 0x80 == 0 { return Int(value) }
            shift += 7
        }
    }

    mutating func readBytes(_ count: Int) throws -> UnsafeRawBufferPointer {
        guard count <= bytes.count - position else { throw failure("the bytes end early") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
    }

    mutating func text() throws -> String {
        String(decoding: try readBytes(try count()), as: UTF8.self)
    }

    /// Reads a value whose storage class was read already.
    mutating func value(ofClass storageClass: UInt8) throws -> StorageValue {
        switch storageClass {
        case 0: return .null
        case 1: return .integer(Int64(bitPattern: try word()))
        case 2: return .real(Double(bitPattern: try word()))
        case 3: return .text(try text())
        case 4: return .blob(Array(try readBytes(try count())))
        default: throw failure("a storage class is unknown")
        }
    }

    /// Checks that all bytes have been read.
    func end() throws {
        guard position == bytes.count else { throw failure("bytes follow the end") }
    }

    private mutating func word() throws -> UInt64 {
        UInt64(bigEndian: try readBytes(8).loadUnaligned(as: UInt64.self))
    }
}
