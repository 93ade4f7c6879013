import Foundation

/// A peer's change of one object in one transaction. The peer prints it before and after the change.
package struct PeerAct: Codable, Sendable {
    package enum Kind: String, Codable, Sendable { case insert, edit, delete }

    package let kind: Kind
    package let model: String
    package let tag: String
    /// The written values by the properties' names, as text, with references by their tags.
    package let values: [String: String]

    package init(_ kind: Kind, _ model: String, _ tag: String, _ values: [String: String] = [:]) {
        self.kind = kind
        self.model = model
        self.tag = tag
        self.values = values
    }

    /// Returns the act as one line.
    package func line() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    package init(line: Substring) throws {
        self = try JSONDecoder().decode(PeerAct.self, from: Data(line.utf8))
    }
}

/// The textual forms in which values are compared.
package enum PeerText {
    /// Whole milliseconds, which the wire preserves.
    package static func of(_ date: Date?) -> String {
        date.map { "\(Int64(($0.timeIntervalSince1970 * 1000).rounded()))" } ?? "nil"
    }

    package static func of(_ text: String?) -> String { text ?? "nil" }

    /// The tags in the list's order.
    package static func of(tags: [String]) -> String { tags.joined(separator: ",") }
}
