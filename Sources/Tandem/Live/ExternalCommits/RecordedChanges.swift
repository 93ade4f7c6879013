/// The changes of a commit as they are recorded for other processes: for each table the changed rows, with all values
/// that they had before.
///
/// ```
/// 1                                                       the version of this encoding
/// length, name, 0                                         a table of which any row may have changed
/// length, name, 1, number of rows, rows                   a table with known changes
/// ```
///
/// A row is its row number (8 bytes), then the number of its old values, then the values. If the row did not exist,
/// `FFFF` is in place of the number of values. A value is a tag of ``RowEncoder/Tag``, and 8 bytes or a length with
/// bytes. Lengths and the number of rows have 4 bytes, and the number of values has 2 bytes. All are little-endian.
struct RecordedChanges {
    struct Row {
        let rowID: Int64
        /// The values by the indices of the table's columns, or `nil` if the row did not exist.
        let old: [BoundValue]?
    }

    struct Table {
        let name: String
        /// The first change of each row, or `nil` if any row may have changed.
        let rows: [Row]?
    }

    let tables: [Table]

    static let version: UInt8 = 1
    static let newRow = UInt16.max

    /// Decodes changes. Returns `nil` if they are damaged or have another encoding.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = Reader(bytes: bytes)
        guard reader.byte() == Self.version else { return nil }
        var tables: [Table] = []
        while !reader.isAtEnd {
            guard let name = reader.block(), let isKnown = reader.byte() else { return nil }
            guard isKnown == 1 else {
                tables.append(Table(name: String(decoding: name, as: UTF8.self), rows: nil))
                continue
            }
            guard let count = reader.number(UInt32.self) else { return nil }
            var rows: [Row] = []
            for _ in 0..<count {
                guard let row = reader.row() else { return nil }
                rows.append(row)
            }
            tables.append(Table(name: String(decoding: name, as: UTF8.self), rows: rows))
        }
        self.tables = tables
    }

    /// A reader of the encoding. It returns `nil` beyond the end.
    private struct Reader {
        let bytes: UnsafeRawBufferPointer
        var offset = 0

        init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

        var isAtEnd: Bool { offset == bytes.count }

        mutating func byte() -> UInt8? { number(UInt8.self) }

        mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
            let size = MemoryLayout<Number>.size
            guard bytes.count - offset >= size else { return nil }
            defer { offset += size }
            return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
        }

        mutating func block() -> UnsafeRawBufferPointer? {
            guard let count = number(UInt32.self), bytes.count - offset >= Int(count) else { return nil }
            defer { offset += Int(count) }
            return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(count)])
        }

        mutating func row() -> Row? {
            guard let rowID = number(Int64.self), let count = number(UInt16.self) else { return nil }
            guard count != RecordedChanges.newRow else { return Row(rowID: rowID, old: nil) }
            var values: [BoundValue] = []
            for _ in 0..<count {
                guard let value = value() else { return nil }
                values.append(value)
            }
            return Row(rowID: rowID, old: values)
        }

        private mutating func value() -> BoundValue? {
            switch byte().flatMap({ RowEncoder.Tag(rawValue: $0) }) {
            case .null: .null
            case .integer: number(Int64.self).map { .integer($0) }
            case .real: number(UInt64.self).map { .real(Double(bitPattern: $0)) }
            case .text: block().map { .text(Array($0)) }
            case .blob: block().map { .blob(Array($0)) }
            case nil: nil
            }
        }
    }
}

extension [UInt8] {
    mutating func append(number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }

    mutating func append(block bytes: some Collection<UInt8>) {
        append(number: UInt32(bytes.count))
        append(contentsOf: bytes)
    }

    /// Appends a value in the encoding of ``RecordedChanges``.
    mutating func append(value: ColumnView) {
        switch value {
        case .null: append(RowEncoder.Tag.null.rawValue)
        case .integer(let value):
            append(RowEncoder.Tag.integer.rawValue)
            append(number: value)
        case .real(let value):
            append(RowEncoder.Tag.real.rawValue)
            append(number: value.bitPattern)
        case .text(let utf8):
            append(RowEncoder.Tag.text.rawValue)
            append(block: utf8)
        case .blob(let bytes):
            append(RowEncoder.Tag.blob.rawValue)
            append(block: bytes)
        }
    }
}
