/// The file service of a ``ServerCore``, under `/files`. The article "The file protocol" of TandemServer specifies its
/// protocol.
///
/// For example:
///
/// ```swift
/// configuration.files = ServerFiles(try FileStorage.inFolder(at: "uploads"))
/// configuration.files?.limit = 50 << 20
/// ```
public struct ServerFiles: Sendable {
    /// The storage for the files.
    public var storage: FileStorage
    /// The maximum size of a file in bytes, 4 GiB by default. Larger files get a 413.
    public var limit: Int64 = 4 << 30
    /// Whether each user sees only their own files. Requests without a valid token are then refused.
    public var isPerUser = false

    /// Creates a file service for all users, with a storage.
    public init(_ storage: FileStorage) {
        self.storage = storage
    }
}

/// A file on a server.
public struct ServerFile: Hashable, Sendable, Codable {
    /// An action on a file.
    public enum Action: Sendable {
        /// Read the file and its metadata.
        case read
        /// Upload the file, or a part of it.
        case write
        /// Delete the file.
        case delete
    }

    /// The file's ID: 32 lowercase hexadecimal digits.
    public let id: String
    /// The file's name, as users see it.
    public let name: String
    /// The file's media type.
    public let contentType: String
    /// The file's size in bytes, also while it is incomplete.
    public let size: Int64
    /// The SHA-256 of the file's bytes, as 64 lowercase hexadecimal digits.
    public let sha256: String
    /// The user that uploaded the file, if known.
    public let owner: String?

    /// The ETag with quotes. It is the hash of the bytes.
    var etag: String { "\"\(sha256)\"" }

    /// Returns whether another file has the same bytes.
    func isSame(as other: ServerFile) -> Bool { sha256 == other.sha256 && size == other.size }

    /// Returns whether a text is a valid file ID, and therefore safe as a file name.
    static func isID(_ text: String) -> Bool { isHex(text, count: 32) }

    static func isHex(_ text: String, count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            }
    }
}
