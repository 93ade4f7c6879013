/// A file on a server, as a row names it.
public struct RemoteFile: Hashable, Sendable {
    /// Where it is.
    public var url: String
    /// Which one it must be, without quotes; `nil` for whichever is there. A download that goes on from an offset
    /// without one may put two files together: the hash shows it, and only that.
    public var etag: String?
    /// How many bytes it must have; `nil` if that is not known.
    public var size: Int64?

    /// A file by its address.
    public init(url: String, etag: String? = nil, size: Int64? = nil) {
        self.url = url
        self.etag = etag
        self.size = size
    }
}

/// What a server says of a file that it sends.
public struct ServedFile: Hashable, Sendable {
    /// How many bytes the whole file has.
    public var size: Int64
    /// Which one it is, without quotes, if the server says so.
    public var etag: String?
    /// The SHA-256 that the server says it has, as 64 lower-case hexadecimal digits. A claim: whoever takes the file
    /// computes their own.
    public var sha256: String?

    /// What a server says of a file.
    public init(size: Int64, etag: String? = nil, sha256: String? = nil) {
        self.size = size
        self.etag = etag
        self.sha256 = sha256
    }
}

/// Some bytes of a file that is downloaded.
public struct FilePiece: Hashable, Sendable {
    /// The bytes: at least one, ``greatestSize`` at most.
    public var bytes: [UInt8]
    /// Where in the file the first of them belongs.
    public var offset: Int64
    /// The file that they are of: whoever has no room for that many bytes refuses the first piece.
    public var file: ServedFile

    /// The most bytes of a piece.
    public static let greatestSize = 1 << 20

    /// Some bytes of a file.
    public init(bytes: [UInt8], offset: Int64, file: ServedFile) {
        self.bytes = bytes
        self.offset = offset
        self.file = file
    }
}
