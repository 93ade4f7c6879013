import HTTPTypes
import Tandem

/// The error messages of servers.
package enum ServerMessage {
    /// Returns the server's error message: `{"error":"…"}`, `[{"errorMessage":"…"}]`, or a JSON string. Markup and
    /// binary data are not shown.
    ///
    /// - Parameters:
    ///   - response: The response's head.
    ///   - body: The response's body.
    ///   - limit: The maximum number of characters.
    ///   - unlessItem: Whether the body may be an item. The `title` of an item is not an error message.
    package static func text(
        of response: HTTPResponse, body: [UInt8], limit: Int, unlessItem: Bool = false
    ) -> String {
        guard !body.isEmpty, body.count <= 1 << 20, response.isJSON,
            let node = try? body.withUnsafeBufferPointer({ try ExactJSON.parseWire($0) })
        else { return "" }
        let text: String
        switch node {
        case .text(let message): text = message
        case .object(let members):
            let isItem = unlessItem && members.contains { $0.key == "id" }
            text = isItem ? "" : message(in: node) ?? ""
        case .array(let nodes): text = nodes.compactMap(message).joined(separator: " ")
        default: text = ""
        }
        return visible(text, limit: limit)
    }

    /// Returns the beginning of a text, with spaces for control characters.
    package static func visible(_ text: String, limit: Int) -> String {
        let visible = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }
        return String(String.UnicodeScalarView(visible.prefix(limit)))
    }

    private static func message(in node: JSONNode) -> String? {
        guard case .object(let members) = node else { return nil }
        for name in ["error", "errorMessage", "message", "detail", "title"] {
            for case (name, .text(let text)) in members { return text }
        }
        return nil
    }
}
