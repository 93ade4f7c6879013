import Tandem

/// An attachment on the wire: an object, or a plain URL in tables that keep only that.
enum WireAttachment {
    /// Encodes a plain URL as a plain URL again, because other clients of the table may know only that form.
    static func write(_ node: JSONNode) -> JSONNode {
        guard let attachment = Attachment(__json: node), attachment.isPlainURL, let url = attachment.serverURL else {
            return node
        }
        return .text(url)
    }

    /// Returns the URL of an attachment, or the URLs of a list.
    static func urlTexts(_ node: JSONNode) throws(WireElement.Problem) -> JSONNode {
        if case .array(let nodes) = node { return .array(try nodes.map(urlTexts)) }
        guard let url = Attachment(__json: node)?.serverURL else {
            throw WireElement.Problem("The file has no URL before it is uploaded.")
        }
        return .text(url)
    }

    /// Decodes an attachment to its stored object; null for an empty text, `nil` if it is not an attachment.
    static func read(_ node: JSONNode) -> JSONNode? {
        switch node {
        case .text(let text):
            if text.isEmpty { return .null }
            guard text.utf8.first != UInt8(ascii: "{") else {
                guard let document = WireFormat.document(node), case .object = document else { return nil }
                return read(document)
            }
            return Attachment(atServerURL: text).__json
        case .object(let members):
            if let attachment = Attachment(__json: node) { return attachment.__json }
            // The client that wrote the value may not know IDs.
            guard !members.contains(where: { $0.key == "id" && $0.value != .null }),
                case .text(let url)? = members.first(where: { $0.key == "url" })?.value, !url.isEmpty
            else { return nil }
            let id = ("id", JSONNode.text(Attachment(atServerURL: url).id.rawValue))
            return Attachment(__json: .object([id] + members.filter { $0.key != "id" })).map(\.__json)
        default: return nil
        }
    }
}
