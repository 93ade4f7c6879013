import Foundation

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
            let stored = row.bytes(column)
            guard stored.count == slot.count else { return false }
            guard let pointer = stored.baseAddress else { return stored.isEmpty }
            return bytes.withUnsafeBytes { memcmp($0.baseAddress! + Int(slot.bits), pointer, slot.count) == 0 }
        }
    }
}
