import Foundation

/// The text form of server-sent events.
public enum EventText {
    /// A comment, which keeps a connection open.
    public static let comment = ": \n\n"

    /// Returns an event with a value as JSON.
    ///
    /// - Parameters:
    ///   - name: The name of the event.
    ///   - value: The value.
    /// - Throws: The error of the encoder.
    public static func event(_ name: String, data value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        // JSON has no line breaks of its own, so that the data is one line.
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let data = try encoder.encode(value)
        return "event: \(name)\ndata: \(String(decoding: data, as: UTF8.self))\n\n"
    }
}
