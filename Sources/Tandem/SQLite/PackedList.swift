/// An encoding of many values in a single blob, so that a list of any length can be bound. SQLite binds at most 32,766
/// values.
///
/// ```
/// offset of the first value, offset of the second one, ...   (4 bytes each, little-endian)
/// tag, bytes                                                  (for each value)
/// ```
///
/// The same process packs, binds and reads a list. It is never stored.
enum PackedList {
    static func pack(_ values: [StorageValue]) -> [UInt8] {
        var offsets: [UInt8] = []
        var data: [UInt8] = []
        let start = values.count * 4 + 4
        func appendOffset() {
            withUnsafeBytes(of: UInt32(start + data.count).littleEndian) { offsets.append(contentsOf: $0) }
        }
        for value in values {
            appendOffset()
            switch value {
            case .null: data.append(RowEncoder.Tag.null.rawValue)
            case .integer(let value):
                data.append(RowEncoder.Tag.integer.rawValue)
                withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) }
            case .real(let value):
                data.append(RowEncoder.Tag.real.rawValue)
                withUnsafeBytes(of: value.bitPattern.littleEndian) { data.append(contentsOf: $0) }
            case .text(let value):
                data.append(RowEncoder.Tag.text.rawValue)
                data.append(contentsOf: value.utf8)
            case .blob(let value):
                data.append(RowEncoder.Tag.blob.rawValue)
                data.append(contentsOf: value)
            }
        }
        appendOffset()
        return offsets + data
    }

    /// Returns the tag and the bytes of a value, or `nil` if the index is out of range.
    static func element(
        _ index: Int, of list: UnsafeRawBufferPointer
    ) -> (tag: RowEncoder.Tag, bytes: UnsafeRawBufferPointer)? {
        guard index >= 0, list.count >= 8, (index + 2) * 4 <= list.count else { return nil }
        func offset(_ index: Int) -> Int {
            Int(UInt32(littleEndian: list.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)))
        }
        let start = offset(index)
        let end = offset(index + 1)
        guard start < end, end <= list.count, let tag = RowEncoder.Tag(rawValue: list[start]) else { return nil }
        return (tag, UnsafeRawBufferPointer(rebasing: list[start + 1..<end]))
    }
}
