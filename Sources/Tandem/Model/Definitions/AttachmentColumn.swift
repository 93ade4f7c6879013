/// A property that contains one attachment, or a list of them.
struct AttachmentColumn: Sendable {
    /// The property's index.
    let property: Int
    let column: String
    let isList: Bool
    /// Whether the file is sent to the server. Files of a local-only property or model are not.
    let isSent: Bool
}

extension PropertyKind {
    /// Whether the value is a list of attachments (`true`) or one attachment (`false`), or `nil` if neither.
    var attachmentIsList: Bool? {
        switch self {
        case .attachment: false
        case .collection("[Attachment]"): true
        default: nil
        }
    }

    /// Whether the property hides attachments from the store: in sets, dictionaries or nested lists.
    var hidesAttachments: Bool {
        guard case .collection(let name) = self, attachmentIsList == nil else { return false }
        var rest = Substring(name)
        while true {
            if rest.hasPrefix("Set<"), rest.hasSuffix(">") {
                rest = rest.dropFirst(4).dropLast()
            } else if rest.hasPrefix("[String: "), rest.hasSuffix("]") {
                rest = rest.dropFirst(9).dropLast()
            } else if rest.hasPrefix("["), rest.hasSuffix("]") {
                rest = rest.dropFirst().dropLast()
            } else {
                return rest == "Attachment"
            }
        }
    }
}

extension PropertyDefinition {
    /// Whether the value is an attachment, or a list of them.
    public var holdsAttachments: Bool { kind.attachmentIsList != nil }
}

extension ModelDefinition {
    /// The properties that contain attachments.
    var attachmentColumns: [AttachmentColumn] {
        properties.enumerated().compactMap { index, property in
            property.kind.attachmentIsList.map {
                AttachmentColumn(
                    property: index, column: property.column, isList: $0,
                    isSent: !property.isLocalOnly && !isLocalOnly)
            }
        }
    }
}
