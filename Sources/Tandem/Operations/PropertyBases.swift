/// The properties that an operation changes, by their columns, each with the value that the server last sent.
///
/// The stored form is one blob: a byte 1 (the version) and the number of properties. Each property has its column's
/// name and the value, as ``PackedWriter`` writes them.
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

    /// A property's base, or `nil` if the property is not changed.
    subscript(column: String) -> StorageValue? {
        get { entries.first { ScalarText.isEqual($0.column, column) }?.value }
        set {
            let index = entries.firstIndex { ScalarText.isEqual($0.column, column) }
            switch (index, newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append((column, value))
            case (nil, nil): break
            }
        }
    }

    /// Adds properties that changed later. The bases of earlier changes stay.
    mutating func merge(later: PropertyBases) {
        for entry in later.entries where self[entry.column] == nil { entries.append(entry) }
    }

    // MARK: Bytes

    var bytes: [UInt8] {
        var out = PackedWriter(version: 1)
        out.append(count: entries.count)
        for (column, value) in entries {
            out.append(text: column)
            out.append(value)
        }
        return out.bytes
    }

    /// - Throws: ``InvalidEncoding`` if the bytes are not valid property bases.
    init(bytes: UnsafeRawBufferPointer) throws {
        var reader = try PackedReader(bytes, of: "an operation's changes", version: 1)
        var entries: [(column: String, value: StorageValue)] = []
        for _ in 0..<(try reader.count()) {
            let column = try reader.text()
            entries.append((column, try reader.value(ofClass: try reader.byte())))
        }
        try reader.end()
        self.entries = entries
    }

    /// The bases in their stored form: NULL if there are none.
    var encoded: StorageValue { isEmpty ? .null : .blob(bytes) }
}
