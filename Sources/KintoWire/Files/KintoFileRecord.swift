import Tandem

/// The record of a file in Kinto.
struct KintoFileRecord: Sendable {
    /// The plugin's description of a file.
    struct Attachment: Sendable {
        /// The URL of the bytes, which is a secret: it gives access to them.
        let location: String
        let sha256: String
        let size: Int64
    }

    /// The record's version.
    let version: String
    /// The file; `nil` before its upload.
    let attachment: Attachment?
}

extension KintoFileRecord {
    /// Returns whether a file has an ETag. Earlier uploads have the record's version as ETag.
    func matches(_ etag: String) -> Bool { etag == attachment?.sha256 || etag == version }

    /// Decodes a record. `nil` if it is not valid.
    init?(_ node: JSONNode) {
        guard case .object(let members) = node,
            case .integer(let time)? = members.first(where: { $0.key == "last_modified" })?.value, time >= 0
        else { return nil }
        version = String(time)
        switch members.first(where: { $0.key == KintoFiles.member })?.value {
        case nil, .null: attachment = nil
        case let node?:
            guard let attachment = Attachment(node) else { return nil }
            self.attachment = attachment
        }
    }
}

extension KintoFileRecord.Attachment {
    /// Decodes a description. `nil` if it is not valid.
    init?(_ node: JSONNode) {
        guard case .object(let members) = node else { return nil }
        func value(_ name: String) -> JSONNode? { members.first { $0.key == name }?.value }
        guard case .text(let location)? = value("location"), !location.isEmpty,
            case .text(let sha256)? = value("hash"), case .integer(let size)? = value("size"), size >= 0
        else { return nil }
        self.init(location: location, sha256: sha256.lowercased(), size: size)
    }
}
