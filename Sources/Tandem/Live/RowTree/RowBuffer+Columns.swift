extension RowBuffer {
    func appendNull() { append(PackedTag.null) }

    /// Appends the text of the local ID.
    func appendLocalID() { append(PackedTag.localID) }

    func append(integer value: Int64) {
        if value == 0 { return append(PackedTag.integer) }
        let bits = 65 - (value ^ value >> 63).leadingZeroBitCount
        let count = (bits + 7) / 8
        append(PackedTag.integer + UInt8(count))
        append(UInt64(bitPattern: value), count: count)
    }

    func append(real value: Double) {
        append(PackedTag.real)
        append(value.bitPattern, count: 8)
    }

    /// Appends a text.
    ///
    /// - Parameter mayPack: Whether the column is read as a text only, and never as bytes.
    func append(text: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, mayPack: Bool) {
        if text.count >= PackedTag.leastShared, text.count < key.count {
            let end = UnsafeRawBufferPointer(rebasing: key[(key.count - text.count)...])
            if RowView.order(end, text) == 0 { return append(PackedTag.keyEnd, reference: text.count) }
            let start = UnsafeRawBufferPointer(rebasing: key[1...text.count])
            if RowView.order(start, text) == 0 { return append(PackedTag.keyStart, reference: text.count) }
        }
        if mayPack, append(tag: PackedTag.uuid, packing: text) { return }
        append(text, short: PackedTag.text, long: PackedTag.longText)
    }

    func append(blob: UnsafeRawBufferPointer) {
        append(blob, short: PackedTag.blob, long: PackedTag.longBlob)
    }

    private func append(_ tag: UInt8, reference count: Int) {
        append(tag)
        append(varint: UInt64(count))
    }

    private func append(_ bytes: UnsafeRawBufferPointer, short: UInt8, long: UInt8) {
        if bytes.count < PackedTag.shortCount {
            append(short + UInt8(bytes.count))
        } else {
            append(long, reference: bytes.count)
        }
        append(bytes)
    }
}
