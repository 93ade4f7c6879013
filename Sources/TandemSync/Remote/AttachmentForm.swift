/// The form in which attachments are sent to a server.
public enum AttachmentForm: Hashable, Sendable {
    /// An object of the ID, name, type, size, SHA-256 and URL. An attachment that the server itself named by a plain
    /// URL stays a plain URL.
    case object
    /// The file's URL as a text, for tables whose other clients expect one. Other devices derive name and type from the
    /// URL, and do not know size and hash.
    case urlText
}
