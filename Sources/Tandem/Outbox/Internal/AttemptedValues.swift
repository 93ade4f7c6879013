import Crypto

/// Which kinds of request have been sent for an operation since the server last answered: any of them may have been
/// carried out, late, or with its answer lost.
package struct AttemptedKinds: OptionSet, Hashable, Sendable {
    package let rawValue: Int64

    package static let insert = AttemptedKinds(rawValue: 1)
    package static let update = AttemptedKinds(rawValue: 2)
    package static let delete = AttemptedKinds(rawValue: 4)

    package init(rawValue: Int64) {
        self.rawValue = rawValue
    }

    init(_ kind: Operation.Kind) {
        switch kind {
        case .insert: self = .insert
        case .update: self = .update
        case .delete: self = .delete
        }
    }
}

/// What has been sent of an object's properties since the server last answered, by their columns.
///
/// After a lost answer the server may hold any of these values: one that it sends back is our own, and no conflict.
/// Values are in the form that comes back from the wire, references by the IDs that they were sent with. A long one is
/// kept as its digest, so that a text of a megabyte does not stand in the file once for each attempt.
///
/// Stored in one blob: a byte 1 (the version), the number of columns; for each its name, the number of values, oldest
/// first, and the values, as ``PackedWriter`` writes them; in place of a long one a byte 5 and the 32 bytes of its
/// digest.
struct AttemptedValues: Equatable {
    enum Entry: Hashable {
        case value(StorageValue)
        case digest([UInt8])
    }

    struct Column: Equatable {
        var name: String
        var entries: [Entry]
    }

    private(set) var columns: [Column] = []

    /// Of a property only the last ones are kept: who edits and loses answers for hours must not fill the disk.
    static let limit = 16
    /// Longer values are kept as digests.
    static let longest = 64

    var isEmpty: Bool { columns.isEmpty }

    init() {}

    init(columns: [Column]) {
        self.columns = columns
    }

    /// Notes that a value is sent.
    mutating func note(_ value: StorageValue, of column: String) {
        let entry = Self.entry(of: value)
        guard let index = columns.firstIndex(where: { ScalarText.isEqual($0.name, column) }) else {
            columns.append(Column(name: column, entries: [entry]))
            return
        }
        // One that is sent again is the newest.
        columns[index].entries.removeAll { $0 == entry }
        columns[index].entries.append(entry)
        if columns[index].entries.count > Self.limit { columns[index].entries.removeFirst() }
    }

    /// Whether a value that the server holds may be one that was sent.
    func contains(_ value: StorageValue, of column: String) -> Bool {
        let entry = Self.entry(of: value)
        return columns.first { ScalarText.isEqual($0.name, column) }?.entries.contains(entry) ?? false
    }

    /// Whether any value of a property was sent.
    func names(_ column: String) -> Bool {
        columns.contains { ScalarText.isEqual($0.name, column) }
    }

    private static func entry(of value: StorageValue) -> Entry {
        switch value {
        case .text(let text) where text.utf8.count > longest: .digest(Self.digest([3] + text.utf8))
        case .blob(let bytes) where bytes.count > longest: .digest(Self.digest([4] + bytes))
        default: .value(value)
        }
    }

    /// It keeps no secret: it stands in for a long value in a comparison.
    private static func digest(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

    // MARK: Bytes

    var bytes: [UInt8] {
        var out = PackedWriter(version: 1)
        out.append(count: columns.count)
        for column in columns {
            out.append(text: column.name)
            out.append(count: column.entries.count)
            for entry in column.entries {
                switch entry {
                case .value(let value): out.append(value)
                case .digest(let digest):
                    out.append(byte: 5)
                    out.append(raw: digest)
                }
            }
        }
        return out.bytes
    }

    /// - Throws: ``InvalidEncoding`` if the bytes are no attempted values.
    init(bytes: UnsafeRawBufferPointer) throws {
        var reader = try PackedReader(bytes, of: "an operation's attempted values", version: 1)
        for _ in 0..<(try reader.count()) {
            var column = Column(name: try reader.text(), entries: [])
            for _ in 0..<(try reader.count()) {
                let storageClass = try reader.byte()
                column.entries.append(
                    storageClass == 5
                        ? .digest(Array(try reader.take(32))) : .value(try reader.value(ofClass: storageClass)))
            }
            columns.append(column)
        }
        try reader.end()
    }

    /// The values as they are stored: NULL if there are none.
    var stored: StorageValue { isEmpty ? .null : .blob(bytes) }
}
