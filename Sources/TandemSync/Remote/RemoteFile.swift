/// A file on a server, as named by a row.
public struct RemoteFile: Hashable, Sendable {
    /// The URL of the file.
    public var url: String
    /// The required ETag, without quotes; `nil` to accept any file. Without an ETag, a download that continues from an
    /// offset may mix two files. Only the hash then detects it.
    public var etag: String?
    /// The required number of bytes; `nil` if it is not known.
    public var size: Int64?

    /// Creates a file from its URL.
    ///
    /// - Parameters:
    ///   - url: The file's URL.
    ///   - etag: The ETag that the file must still have; `nil` for any.
    ///   - size: The number of bytes, if it is known.
    public init(url: String, etag: String? = nil, size: Int64? = nil) {
        self.url = url
        self.etag = etag
        self.size = size
    }
}

/// The server's description of a file that it sends.
public struct ServedFile: Hashable, Sendable {
    /// The number of bytes of the whole file.
    public var size: Int64
    /// The file's ETag, without quotes, if the server sends it.
    public var etag: String?
    /// The SHA-256 that the server claims, as 64 lower-case hexadecimal digits. The receiver of the file must compute
    /// its own.
    public var sha256: String?

    /// Creates a server's description of a file.
    ///
    /// - Parameters:
    ///   - size: The number of bytes.
    ///   - etag: The file's ETag, if the server has sent one.
    ///   - sha256: The SHA-256 hash in hexadecimal digits, if the server has sent it.
    public init(size: Int64, etag: String? = nil, sha256: String? = nil) {
        self.size = size
        self.etag = etag
        self.sha256 = sha256
    }
}

/// A piece of a downloaded file.
public struct FilePiece: Hashable, Sendable {
    /// The bytes: at least 1, at most ``greatestSize``.
    public var bytes: [UInt8]
    /// The offset of the first byte in the file.
    public var offset: Int64
    /// The file of these bytes. A receiver without space for its size rejects the first piece.
    public var file: ServedFile

    /// The maximum number of bytes in a piece.
    public static let greatestSize = 1 << 20

    /// Creates a piece of a file.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the piece.
    ///   - offset: The index of the first byte in the file.
    ///   - file: The server's description of the whole file.
    public init(bytes: [UInt8], offset: Int64, file: ServedFile) {
        self.bytes = bytes
        self.offset = offset
        self.file = file
    }
}
