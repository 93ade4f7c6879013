import Foundation
import NIOCore

/// The text form of server-sent events.
enum EventText {
    /// A comment, which keeps a connection open.
    static let comment = ": \n\n"

    /// Returns an event with a value as JSON.
    static func event(_ name: String, _ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        // JSON has no line breaks of its own, so that the data is one line.
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let data = try encoder.encode(value)
        return "event: \(name)\ndata: \(String(decoding: data, as: UTF8.self))\n\n"
    }
}
