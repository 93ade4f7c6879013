extension RowView {
    /// Calls a function with the first columns of the row: rowid, local ID, and those of the payload.
    func withColumns<T>(_ count: Int, _ body: (UnsafePointer<PackedColumn>) throws -> T) rethrows -> T {
        try withUnsafeTemporaryAllocation(byteCount: max(1, keyCount), alignment: 1) { memory in
            copyKey(to: memory)
            let key = UnsafeRawBufferPointer(rebasing: memory[..<keyCount])
            return try withUnsafeTemporaryAllocation(of: PackedColumn.self, capacity: count) { columns in
                let first = columns.baseAddress.unsafelyUnwrapped
                first.initialize(to: .integer(rowID))
                (first + 1).initialize(to: .text(id, isUUID: isPacked))
                var next = payload.baseAddress.unsafelyUnwrapped
                for index in 2..<count { (first + index).initialize(to: column(&next, key: key)) }
                return try body(first)
            }
        }
    }

    @inline(__always)
    private func column(_ next: inout UnsafeRawPointer, key: UnsafeRawBufferPointer) -> PackedColumn {
        func bytes(_ count: Int) -> UnsafeRawBufferPointer {
            defer { next += count }
            return UnsafeRawBufferPointer(start: next, count: count)
        }
        let tag = next.load(as: UInt8.self)
        next += 1
        switch tag {
        case PackedTag.null: return .null
        case PackedTag.integer..<PackedTag.real: return .integer(Self.integer(bytes(Int(tag - PackedTag.integer))))
        case PackedTag.real: return .real(bits: UInt64(littleEndian: bytes(8).loadUnaligned(as: UInt64.self)))
        case PackedTag.uuid: return .text(bytes(PackedUUID.packedCount), isUUID: true)
        case PackedTag.keyEnd: return .text(UnsafeRawBufferPointer(rebasing: key.suffix(Int(Self.varint(&next)))))
        case PackedTag.keyStart: return .text(UnsafeRawBufferPointer(rebasing: key[1...Int(Self.varint(&next))]))
        case PackedTag.localID: return .text(id, isUUID: isPacked)
        case PackedTag.longText: return .text(bytes(Int(Self.varint(&next))))
        case PackedTag.longBlob: return .blob(bytes(Int(Self.varint(&next))))
        case PackedTag.text..<PackedTag.blob: return .text(bytes(Int(tag - PackedTag.text)))
        default: return .blob(bytes(Int(tag - PackedTag.blob)))
        }
    }

    @inline(__always)
    private static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        if bytes.isEmpty { return 0 }
        var value: UInt64 = 0
        for index in bytes.indices { value |= UInt64(bytes[index]) << UInt64(8 * index) }
        let unused = Int64(64 - 8 * bytes.count)
        return (Int64(bitPattern: value) << unused) >> unused
    }

    /// Returns whether two rows with the same key have the same values in the columns of a mask.
    ///
    /// - Parameter count: The number of columns that are compared.
    func isSame(as other: RowView, observed: ColumnMask, count: Int) -> Bool {
        if hasPayload(of: other) { return true }
        return withColumns(count) { columns in
            other.withColumns(count) { others in
                (2..<count).allSatisfy {
                    observed & (1 << UInt64(min(63, $0))) == 0 || columns[$0].isSame(as: others[$0])
                }
            }
        }
    }
}
