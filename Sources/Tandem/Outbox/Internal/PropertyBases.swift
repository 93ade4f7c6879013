/// The properties that an operation changes, by their columns, each with the value that the server last sent.
///
/// Stored in one blob: a byte 1 (the version), the number of properties, and for each of them its column's name, a
/// byte for the storage class (0 NULL, 1 integer, 2 real, 3 text, 4 blob) and the value. Numbers of things and of bytes
/// are LEB128; integers and reals are 8 bytes, big-endian; texts and blobs follow their length in bytes.
struct PropertyBases: Equatable {
    private(set) var entries: [(column: String, value: StorageValue)]

    init(_ entries: [(column: String, value: StorageValue)] = []) {
        self.entries = entries
    }

    static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.entries.elementsEqual(rhs.entries) { ScalarText.isEqual($0.column, $1.column) && $0.value == $1.value }
    }

    var isEmpty: Bool { entries.isEmpty }
    var columns: [String] { entries.map(\.column) }

    subscript(column: String) -> StorageValue? {
        entries.first { ScalarText.isEqual($0.column, column) }?.value
    }

    /// Adds properties that changed later: what an earlier change has kept as base stays.
    mutating func merge(later: PropertyBases) {
        for entry in later.entries where self[entry.column] == nil { entries.append(entry) }
    }

    mutating func rename(_ column: String, to newName: String) {
        entries = entries.map { ScalarText.isEqual($0.column, column) ? (newName, $0.value) : $0 }
    }

    // MARK: Bytes

    var bytes: [UInt8] {
        var out: [UInt8] = [1]
        func append(count: Int) {
            var rest = UInt64(count)
            while rest >= 0x80 {
                out.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            out.append(UInt8(rest))
        }
        func append(word: UInt64) {
            withUnsafeBytes(of: word.bigEndian) { out.append(contentsOf: $0) }
        }
        append(count: entries.count)
        for (column, value) in entries {
            append(count: column.utf8.count)
            out.append(contentsOf: column.utf8)
            switch value {
            case .null: out.append(0)
            case .integer(let value):
                out.append(1)
                append(word: UInt64(bitPattern: value))
            case .real(let value):
                out.append(2)
                append(word: value.bitPattern)
            case .text(let text):
                out.append(3)
                append(count: text.utf8.count)
                out.append(contentsOf: text.utf8)
            case .blob(let blob):
                out.append(4)
                append(count: blob.count)
                out.append(contentsOf: blob)
            }
        }
        return out
    }

    /// - Throws: ``InvalidEncoding`` if the bytes are no property bases.
    init(bytes: UnsafeRawBufferPointer) throws {
        var position = 0
        func fail(_ problem: String) -> InvalidEncoding {
            InvalidEncoding("an operation's changes", .malformed, problem, at: position)
        }
        func byte() throws -> UInt8 {
            guard position < bytes.count else { throw fail("the bytes end early") }
            defer { position += 1 }
            return bytes[position]
        }
        func count() throws -> Int {
            var value: UInt64 = 0
            var shift: UInt64 = 0
            while true {
                let next = try byte()
                guard shift < 56 else { throw fail("a length is too large") }
                value |= UInt64(next & 0x7F) << shift
                if next & 0x80 == 0 { break }
                shift += 7
            }
            return Int(value)
        }
        func take(_ count: Int) throws -> UnsafeRawBufferPointer {
            guard count <= bytes.count - position else { throw fail("the bytes end early") }
            defer { position += count }
            return UnsafeRawBufferPointer(rebasing: bytes[position..<position + count])
        }
        func word() throws -> UInt64 {
            UInt64(bigEndian: try take(8).loadUnaligned(as: UInt64.self))
        }
        guard try byte() == 1 else { throw fail("the version is unknown") }
        var entries: [(column: String, value: StorageValue)] = []
        for _ in 0..<(try count()) {
            let column = String(decoding: try take(try count()), as: UTF8.self)
            let value: StorageValue
            switch try byte() {
            case 0: value = .null
            case 1: value = .integer(Int64(bitPattern: try word()))
            case 2: value = .real(Double(bitPattern: try word()))
            case 3: value = .text(String(decoding: try take(try count()), as: UTF8.self))
            case 4: value = .blob(Array(try take(try count())))
            default: throw fail("a storage class is unknown")
            }
            entries.append((column, value))
        }
        guard position == bytes.count else { throw fail("bytes follow the end") }
        self.entries = entries
    }
}
