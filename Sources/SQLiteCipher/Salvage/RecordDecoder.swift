import Foundation
import GRDB

/// A decoder for records (https://www.sqlite.org/fileformat2.html#record_format).
struct RecordDecoder {
    let encoding: String.Encoding

    /// Returns the values, or `nil` if the bytes are not a record.
    func decode(_ record: [UInt8]) -> [DatabaseValue]? {
        var header = ByteCursor(record[...], at: 0)
        guard let length = header.varint(), (1...Int64(record.count)).contains(length) else { return nil }
        var body = ByteCursor(record[...], at: Int(length))
        var values: [DatabaseValue] = []
        while header.position < Int(length) {
            guard let type = header.varint(), let value = value(type, body: &body) else { return nil }
            values.append(value)
        }
        return header.position == Int(length) ? values : nil
    }

    private func value(_ type: Int64, body: inout ByteCursor) -> DatabaseValue? {
        switch type {
        case 0: return .null
        case 1...6:
            let size = type == 5 ? 6 : type == 6 ? 8 : Int(type)
            guard let bytes = body.bytes(size) else { return nil }
            let negative = (bytes.first ?? 0) & 0x80 != 0
            let bits = bytes.reduce(negative ? UInt64.max : 0) { $0 << 8 | UInt64($1) }
            return Int64(bitPattern: bits).databaseValue
        case 7:
            guard let bytes = body.bytes(8) else { return nil }
            return Double(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }).databaseValue
        case 8: return 0.databaseValue
        case 9: return 1.databaseValue
        case 12...:
            guard let bytes = body.bytes(Int(clamping: (type - 12) / 2)) else { return nil }
            if type % 2 == 0 { return Data(bytes).databaseValue }
            if encoding == .utf8 { return String(decoding: bytes, as: UTF8.self).databaseValue }
            return String(data: Data(bytes), encoding: encoding)?.databaseValue
        default: return nil
        }
    }
}
