import Tandem

/// An attachment on the wire: the object that a row holds of it, or the plain URL that is all that some tables have.
enum WireAttachment {
    /// A plain URL goes back as one: other clients of the table know nothing else.
    static func write(_ node: JSONNode) -> JSONNode {
        guard let attachment = Attachment(__json: node), attachment.isPlainURL, let url = attachment.serverURL else {
            return node
        }
        return .text(url)
    }

    /// The URL of an attachment, or of each one of a list.
    static func urlTexts(_ node: JSONNode) throws(WireElement.Problem) -> JSONNode {
        if case .array(let nodes) = node {
            var texts: [JSONNode] = []
            for node in nodes { texts.append(try urlTexts(node)) }
            return .array(texts)
        }
        guard let url = Attachment(__json: node)?.serverURL else {
            throw WireElement.Problem("The file has no URL before it is uploaded.")
        }
        return .text(url)
    }

    /// The object as a row holds it; null for an empty text, `nil` if it is no attachment.
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
            // Who has put it there may know nothing of IDs.
            guard !members.contains(where: { $0.key == "id" && $0.value != .null }),
                case .text(let url)? = members.first(where: { $0.key == "url" })?.value, !url.isEmpty
            else { return nil }
            let id = ("id", JSONNode.text(Attachment(atServerURL: url).id.rawValue))
            return Attachment(__json: .object([id] + members.filter { $0.key != "id" })).map(\.__json)
        default: return nil
        }
    }
}
