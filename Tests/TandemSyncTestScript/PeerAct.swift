import Foundation

/// What a peer does to one object in one transaction. It says so before, and once more when it is done.
package struct PeerAct: Codable, Sendable {
    package enum Kind: String, Codable, Sendable { case insert, edit, delete }

    package let kind: Kind
    package let model: String
    package let tag: String
    /// What it writes, by the properties' names: as text, references by their tags.
    package let values: [String: String]

    package init(_ kind: Kind, _ model: String, _ tag: String, _ values: [String: String] = [:]) {
        self.kind = kind
        self.model = model
        self.tag = tag
        self.values = values
    }

    /// In a line.
    package func line() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    package init(line: Substring) throws {
        self = try JSONDecoder().decode(PeerAct.self, from: Data(line.utf8))
    }
}

/// How values are compared.
package enum PeerText {
    /// Whole milliseconds: what the wire keeps.
    package static func of(_ date: Date?) -> String {
        date.map { "\(Int64(($0.timeIntervalSince1970 * 1000).rounded()))" } ?? "nil"
    }

    package static func of(_ text: String?) -> String { text ?? "nil" }

    /// In the list's order.
    package static func of(tags: [String]) -> String { tags.joined(separator: ",") }
}
