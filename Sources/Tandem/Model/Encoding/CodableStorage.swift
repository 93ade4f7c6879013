import Foundation

/// An encoding of `Codable` values as JSON text, for properties whose type is not Tandem's own.
///
/// Keys are sorted, so that equal values have equal text. Numbers that JSON can't represent are written as strings.
enum CodableStorage {
    /// The key that marks an encoder or decoder for a column.
    static let marker = CodingUserInfoKey(rawValue: "tandem.column")!

    private static func makeEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        encoder.userInfo[marker] = true
        return encoder
    }

    private static func makeDecoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        decoder.userInfo[marker] = true
        return decoder
    }

    static func encode(_ value: some Encodable) throws -> Data {
        try makeEncoder().encode(value)
    }

    static func decode<T: Decodable>(_ type: T.Type, from row: RowDecoder, column: Int32) throws -> T {
        let text = try row.text(column)
        do {
            return try makeDecoder().decode(T.self, from: Data(text.utf8))
        } catch {
            throw InvalidStoredValue(column: column, reason: "the JSON is not a \(T.self): \(error)")
        }
    }

    /// Decodes a value from JSON that another program has written. Returns `nil` if the JSON is not a value of the
    /// type.
    static func decode<T: Decodable>(_ type: T.Type, from node: JSONNode) -> T? {
        var bytes: [UInt8] = []
        guard (try? ExactJSON.writeForeign(node.blobsAsText, to: &bytes)) != nil else { return nil }
        return try? makeDecoder().decode(T.self, from: Data(bytes))
    }
}
