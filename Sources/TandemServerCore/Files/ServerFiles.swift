/// How a ``ServerCore`` serves files, under `/files`: by the protocol of Tandem's own that TandemServer's article
/// "The file protocol" writes down.
///
/// For example:
///
/// ```swift
/// configuration.files = ServerFiles(try FileShelf.inFolder(at: "uploads"))
/// configuration.files?.limit = 50 << 20
/// ```
public struct ServerFiles: Sendable {
    /// Where they are kept.
    public var shelf: FileShelf
    /// The most bytes that one may have: 4 GiB unless set. What is larger gets a 413.
    public var limit: Int64 = 4 << 30
    /// Whether each user sees only their own, and nobody is served without a valid token.
    public var isPerUser = false

    /// Files for everybody, on a shelf.
    public init(_ shelf: FileShelf) {
        self.shelf = shelf
    }
}

/// A file as a server knows it.
public struct ServerFile: Hashable, Sendable, Codable {
    /// What somebody wants to do with a file.
    public enum Action: Sendable {
        /// To see it, and what is known of it.
        case read
        /// To send it, or more of it.
        case write
        /// To have it deleted.
        case delete
    }

    /// What it is known by: 32 lower-case hexadecimal digits.
    public let id: String
    /// What people call it.
    public let name: String
    /// Its media type.
    public let contentType: String
    /// How many bytes it has, or will have.
    public let size: Int64
    /// The SHA-256 of its bytes, as 64 lower-case hexadecimal digits.
    public let sha256: String
    /// Who sent it; nil if that is not known.
    public let owner: String?

    /// Its ETag, with quotes: what a file's bytes are follows from it.
    var etag: String { "\"\(sha256)\"" }

    /// Whether another file has the same bytes.
    func isSame(as other: ServerFile) -> Bool { sha256 == other.sha256 && size == other.size }

    /// Whether a text is a file's ID, and so safe as a name on a disk.
    static func isID(_ text: String) -> Bool { isHex(text, 32) }

    static func isHex(_ text: String, _ count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }
}
