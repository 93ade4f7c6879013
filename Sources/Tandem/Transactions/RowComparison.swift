import Foundation
import GRDBSQLite

extension RowEncoder {
    /// Returns whether a value equals that of a stored row, bit by bit.
    func equals(_ index: Int, row: RowDecoder, column: Int32) -> Bool {
        let slot = slots[index]
        let type = row.type(column)
        switch slot.tag {
        case .null: return type == StorageClass.null
        case .integer: return type == StorageClass.integer && row.integer(column) == Int64(bitPattern: slot.bits)
        case .real: return type == StorageClass.real && row.real(column).bitPattern == slot.bits
        case .text, .blob:
            guard type == (slot.tag == .text ? StorageClass.text : StorageClass.blob) else { return false }
            // Compare the length first: it differs for most changed texts.
            guard Int(sqlite3_column_bytes(row.statement, column)) == slot.count else { return false }
            if slot.count == 0 { return true }
            guard let stored = sqlite3_column_blob(row.statement, column) else { return false }
            return bytes.withUnsafeBytes { memcmp($0.baseAddress! + Int(slot.bits), stored, slot.count) == 0 }
        }
    }

    /// Replaces a value with the value that a function appends.
    func replace(_ index: Int, append: (RowEncoder) -> Void) {
        let count = slots.count
        append(self)
        slots[index] = slots[count]
        slots.removeLast(slots.count - count)
    }

    /// Calls a block with the bytes of a text or blob, which are valid inside the block.
    func withBytes<T>(of index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> T) rethrows -> T {
        let slot = slots[index]
        return try bytes.withUnsafeBufferPointer {
            try body(UnsafeBufferPointer(rebasing: $0[Int(slot.bits)..<Int(slot.bits) + slot.count]))
        }
    }

    func isNull(_ index: Int) -> Bool { slots[index].tag == .null }

    /// Returns the text at an index, or `nil` if it is NULL.
    func text(_ index: Int) -> String? {
        isNull(index) ? nil : withBytes(of: index) { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the sort key of a folded property's text.
    func sortTwin(_ fold: TableLayout.Fold) -> StorageValue {
        let twins = RowEncoder()
        twins.appendTwins(fold, of: self)
        return twins.value(at: 0)
    }

    /// Appends the sort key of a folded property, and its search key if it has one.
    func appendTwins(_ fold: TableLayout.Fold, of row: RowEncoder) {
        if row.isNull(fold.property) {
            appendNull()
            if fold.searchColumn != nil { appendNull() }
            return
        }
        row.withBytes(of: fold.property) { text in
            append(.text) { Folding.appendSortKey(of: text, to: &$0) }
            if fold.searchColumn != nil { append(.text) { Folding.appendSearchKey(of: text, to: &$0) } }
        }
    }
}
