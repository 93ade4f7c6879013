import Crypto
import Foundation

extension Attachment {
    /// Creates an attachment of which a server sends only the URL, as in a column of plain URLs.
    ///
    /// Its ID is derived from the URL, so that each device and each pull computes the same one: the first 16 bytes of
    /// the URL's SHA-256.
    package init(atServerURL url: String) {
        let digest = FileDigest(SHA256.hash(data: Array(url.utf8)))?.hex ?? ""
        let name = URLComponents(string: url).map { ($0.path as NSString).lastPathComponent } ?? ""
        let file = name == "/" ? "" : name
        // The first 32 digits of a digest are always a valid ID.
        self.init(
            id: FileID(String(digest.prefix(32)))!, name: file, contentType: ContentType.guess(file), size: nil,
            sha256: nil, serverURL: url)
    }

    /// Whether it was made from its URL alone, so that the URL describes it completely.
    package var isPlainURL: Bool {
        guard size == nil, sha256 == nil, let serverURL else { return false }
        return self == Attachment(atServerURL: serverURL)
    }
}

extension PropertyDefinition {
    /// Replaces each attachment that a server names by its URL alone with the known one at that URL. It is the same
    /// file, and its ID, size and hash are known here.
    ///
    /// - Parameter known: Other values of the property, the preferred ones first.
    func attachments(_ value: StorageValue, like known: [StorageValue]) -> StorageValue {
        func nodes(_ value: StorageValue) -> [JSONNode] { (try? node(of: value).elements) ?? [] }
        guard value != .null, value != known.first else { return value }
        let named = nodes(value)
        var rest = known.flatMap(nodes).compactMap { Attachment(__json: $0) }
        var isChanged = false
        // Two known files may have one URL. Each replaces one attachment.
        let replaced = named.map { node in
            guard let attachment = Attachment(__json: node), attachment.isPlainURL,
                let place = rest.firstIndex(where: { ScalarText.isEqual($0.serverURL, attachment.serverURL) })
            else { return node }
            isChanged = true
            return rest.remove(at: place).__json
        }
        guard isChanged else { return value }
        let row = RowEncoder()
        row.append(json: kind.attachmentIsList == true ? .array(replaced) : replaced[0])
        return row.value(at: 0)
    }
}
