extension RowEncoder {
    /// Appends a copy of a column's value.
    func append(_ view: ColumnView) {
        switch view {
        case .null: appendNull()
        case .integer(let value): append(integer: value)
        case .real(let value): append(real: value)
        case .text(let utf8): append(.text) { $0.append(contentsOf: utf8) }
        case .blob(let bytes): append(.blob) { $0.append(contentsOf: bytes) }
        }
    }
}

/// A row's values, in the order in which they were appended. They are valid until the next append or removal.
extension RowEncoder: ColumnSource {
    @inline(__always)
    func view(_ slot: Int) -> ColumnView {
        let slot = slots[slot]
        switch slot.tag {
        case .null: return .null
        case .integer: return .integer(Int64(bitPattern: slot.bits))
        case .real:
            // SQLite stores NULL in place of a NaN.
            let value = Double(bitPattern: slot.bits)
            return value.isNaN ? .null : .real(value)
        case .text: return .text(view(ofBytes: slot))
        case .blob: return .blob(view(ofBytes: slot))
        }
    }

    /// Returns a view of a slot's bytes in the array's memory. That memory moves only at an append. The buffer retains
    /// the array, and views are not used longer than that.
    @inline(__always)
    private func view(ofBytes slot: Slot) -> UnsafeBufferPointer<UInt8> {
        bytes.withUnsafeBufferPointer { bytes in
            UnsafeBufferPointer(rebasing: bytes[Int(slot.bits)..<Int(slot.bits) + slot.count])
        }
    }
}
