import Foundation

/// Any `Codable` value as JSON text: what a property of a type that is not Tandem's own is stored as.
///
/// Keys are sorted, so that equal values are stored alike; numbers that JSON has no form for are written as strings.
enum CodableStorage {
    /// Tells a value that it is encoded for a column, or decoded from one.
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

    static func decode<T: Decodable>(_ type: T.Type, from row: RowReader, _ column: Int32) throws -> T {
        let text = try row.text(column)
        do {
            return try makeDecoder().decode(T.self, from: Data(text.utf8))
        } catch {
            throw InvalidStoredValue(column: column, reason: "the JSON is no \(T.self): \(error)")
        }
    }

    /// Decodes a value from JSON that someone else has written, `nil` if it is none.
    static func decode<T: Decodable>(_ type: T.Type, from node: JSONNode) -> T? {
        var bytes: [UInt8] = []
        guard (try? ExactJSON.writeForeign(node.blobsAsText, to: &bytes)) != nil else { return nil }
        return try? makeDecoder().decode(T.self, from: Data(bytes))
    }
}
