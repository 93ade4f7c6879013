/// A file that belongs to an object: what a row holds of it. The file itself lies beside the store.
///
/// For example:
///
/// ```swift
/// @Model struct Card {
///     @Folded var shop: String
///     var photo: Attachment?
///     var scans: [Attachment] = []
/// }
/// var card = Card(shop: "Лента")
/// card.photo = try store.attachments.add(contentsOf: "photo.jpg")
/// try store.write { try $0.insert(card) }
/// let bytes = try store.attachments.data(of: card.photo!)
/// ```
///
/// A value is made by ``StoreAttachments``, and can be copied into other objects of the same store: they share the file,
/// which goes with the last of them. What changes all the time (how far an upload is, whether the file is on this device)
/// is not in the value: ``StoreAttachments/status(of:)`` tells it.
///
/// Two values are equal if all that they say is. A value does not change when the store does.
public struct Attachment: Sendable {
    /// The file's ID, made on the device that it was attached on. It never changes.
    public let id: FileID

    /// The name that the file had, or was given. It names nothing on the disk.
    public let name: String

    /// The media type, `image/jpeg` for one.
    public let contentType: String

    /// The number of bytes; `nil` if a server named the file without it.
    public let size: Int64?

    /// The SHA-256 of the bytes; `nil` if a server named the file without it.
    public let sha256: FileDigest?

    /// Where the server has the file; `nil` until it has acknowledged it.
    public let serverURL: String?

    /// Keeps the file until the value is committed for the first time.
    let draft: AttachmentDraft?

    init(
        id: FileID, name: String, contentType: String, size: Int64?, sha256: FileDigest?, serverURL: String? = nil,
        draft: AttachmentDraft? = nil
    ) {
        self.id = id
        self.name = name
        self.contentType = contentType
        self.size = size
        self.sha256 = sha256
        self.serverURL = serverURL
        self.draft = draft
    }
}

extension Attachment: Hashable {
    /// Texts are compared by their Unicode scalars, as the store tells them apart.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.id == rhs.id && lhs.size == rhs.size && lhs.sha256 == rhs.sha256
            && ScalarText.isEqual(lhs.name, rhs.name) && ScalarText.isEqual(lhs.contentType, rhs.contentType)
            && ScalarText.isEqual(lhs.serverURL, rhs.serverURL)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(serverURL == nil)
    }
}

extension Attachment: Identifiable {}

extension Attachment: CustomStringConvertible {
    public var description: String { "\(name) (\(id))" }
}
