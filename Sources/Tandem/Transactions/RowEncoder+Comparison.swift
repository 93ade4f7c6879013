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
}
