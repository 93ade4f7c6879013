/// A file that belongs to an object, as a row describes it. The file itself is stored beside the database.
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
/// ``AttachmentStore`` makes the values. You can copy a value into other objects of the same store. They share the
/// file, which is removed with the last of them. The value does not contain transient state, such as the progress of an
/// upload. ``AttachmentStore/status(of:)`` returns it.
///
/// Two values are equal if all their properties are. A value does not change when the store does.
public struct Attachment: Sendable {
    /// The file's ID, made on the device that attached it. It never changes.
    public let id: FileID

    /// The file's name, or the name given to it. It is not a name on the disk.
    public let name: String

    /// The media type. For example, `image/jpeg`.
    public let contentType: String

    /// The number of bytes, or `nil` if a server named the file without it.
    public let size: Int64?

    /// The SHA-256 of the bytes, or `nil` if a server named the file without it.
    public let sha256: FileDigest?

    /// The file's URL on the server, or `nil` until the server has acknowledged the file.
    public let serverURL: String?

    /// The object that retains the file until the value is committed for the first time.
    let retainer: (any AnyObject & Sendable)?

    init(
        id: FileID, name: String, contentType: String, size: Int64?, sha256: FileDigest?, serverURL: String? = nil,
        retainer: (any AnyObject & Sendable)? = nil
    ) {
        self.id = id
        self.name = name
        self.contentType = contentType
        self.size = size
        self.sha256 = sha256
        self.serverURL = serverURL
        self.retainer = retainer
    }
}

extension Attachment: Hashable {
    /// Returns whether two values are equal. Texts are compared by their Unicode scalars, as in the store.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.id == rhs.id && lhs.size == rhs.size && lhs.sha256 == rhs.sha256
            && ScalarText.isEqual(lhs.name, rhs.name) && ScalarText.isEqual(lhs.contentType, rhs.contentType)
            && ScalarText.isEqual(lhs.serverURL, rhs.serverURL)
    }

    /// Hashes the file's ID.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(serverURL == nil)
    }
}

extension Attachment: Identifiable {}

extension Attachment: CustomStringConvertible {
    /// The name and the ID.
    public var description: String { "\(name) (\(id))" }
}
