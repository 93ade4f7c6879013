import Crypto
import Tandem

/// A file to upload.
public struct OutgoingFile: Sendable {
    /// The file's ID: 32 lower-case hexadecimal digits.
    public var id: String
    /// The display name, with any characters: a server never uses it as a path.
    public var name: String
    /// The media type, such as `image/jpeg`.
    public var contentType: String
    /// The number of bytes.
    public var size: Int64
    /// The SHA-256 of the bytes: 64 lower-case hexadecimal digits.
    public var sha256: String
    /// The source of the bytes.
    public var bytes: any FileBytes
    /// Called with the file's URL on the server before its first byte is sent.
    package var onPlace: (@Sendable (String) async throws -> Void)?

    /// Creates a file with a known size and hash.
    ///
    /// - Parameters:
    ///   - id: The file's ID.
    ///   - name: The file's name, which need not be unique.
    ///   - contentType: The file's media type.
    ///   - size: The number of bytes.
    ///   - sha256: The SHA-256 hash, as 64 lower-case hexadecimal digits.
    ///   - bytes: The content, which is read during the upload.
    public init(
        id: String, name: String, contentType: String, size: Int64, sha256: String, bytes: any FileBytes
    ) {
        self.id = id
        self.name = name
        self.contentType = contentType
        self.size = size
        self.sha256 = sha256
        self.bytes = bytes
    }

    /// Creates a small file from bytes in memory.
    ///
    /// - Parameters:
    ///   - id: The file's ID.
    ///   - name: The file's name, which need not be unique.
    ///   - contentType: The file's media type.
    ///   - bytes: The content.
    public init(id: String, name: String, contentType: String, bytes: [UInt8]) {
        self.init(
            id: id, name: name, contentType: contentType, size: Int64(bytes.count),
            sha256: FileDigest(SHA256.hash(data: bytes))!.hex, bytes: BytesInMemory(bytes: bytes))
    }
}

/// A source of a file's bytes.
public protocol FileBytes: Sendable {
    /// Returns bytes from an offset: the requested number, fewer only at the end of the file.
    ///
    /// Only one task at a time calls it for an upload.
    ///
    /// - Parameters:
    ///   - offset: The index of the first byte.
    ///   - count: The number of bytes.
    /// - Throws: An error if the bytes can't be read. The upload then fails with ``FileProblem/unreadable(_:)``.
    func read(at offset: Int64, count: Int) async throws -> [UInt8]
}

private struct BytesInMemory: FileBytes {
    let bytes: [UInt8]

    func read(at offset: Int64, count: Int) -> [UInt8] {
        guard offset >= 0, offset < bytes.count, count > 0 else { return [] }
        return Array(bytes[Int(offset)..<min(bytes.count, Int(offset) + count)])
    }
}

/// The server's response for an uploaded file.
public struct UploadedFile: Hashable, Sendable {
    /// The URL at which the file can be read and deleted.
    public var url: String
    /// The file's ETag, without quotes; `nil` if the server sends none.
    public var etag: String?
    /// Whether the server already had the complete file. This client must not delete a file that its upload did not
    /// create.
    public var wasThere: Bool

    /// Creates the description of an uploaded file.
    ///
    /// - Parameters:
    ///   - url: The permanent URL of the file, without a signature.
    ///   - etag: The file's ETag, if the server has sent one.
    ///   - wasThere: Whether the server had the file before the upload.
    public init(url: String, etag: String?, wasThere: Bool = false) {
        self.url = url
        self.etag = etag
        self.wasThere = wasThere
    }
}

extension OutgoingFile {
    /// Records the file's future URL before its first byte is sent. For implementations of ``RemoteFiles`` that know it
    /// by then.
    ///
    /// The store persists the URL. An upload without a response, for example after a cancellation or crash, may still
    /// have arrived. If the file is no longer needed, it is deleted at that URL. Use the same URL in each attempt: a
    /// file that an earlier attempt left at another URL is not deleted.
    ///
    /// For example:
    ///
    /// ```swift
    /// let place = try await api.place(of: file.id)
    /// try await file.willBe(at: place.url)
    /// try await api.put(file.bytes, at: place)
    /// ```
    ///
    /// To send a file in another form, copy it and change ``bytes``. A newly created file does not record a URL.
    ///
    /// - Parameter url: The future ``UploadedFile/url`` of the response.
    /// - Throws: ``RemoteFailure/notSent(_:)`` if the file is no longer needed, or if the URL can't be stored. The
    ///   upload must end with this error.
    public func willBe(at url: String) async throws(RemoteFailure) {
        do {
            try await onPlace?(url)
        } catch {
            throw .notSent(error)
        }
    }

    /// Checks whether the file can be sent. For implementations of ``RemoteFiles``.
    ///
    /// - Throws: ``RemoteFailure/notEncodable(_:)`` if the ID, the hash, the size, the content type or the name is not
    ///   valid.
    public func check() throws(RemoteFailure) {
        if let problem { throw .notEncodable(problem) }
    }

    private var problem: RequestEncodingError? {
        if FileID(id) == nil {
            return RequestEncodingError(.invalidID, message: "A file's ID is 32 lower-case hexadecimal digits.")
        }
        if FileDigest(hex: sha256)?.hex != sha256 {
            return RequestEncodingError(
                .value, message: "A file's SHA-256 is 64 lower-case hexadecimal digits.", member: "sha256")
        }
        if size < 0 { return RequestEncodingError(.value, message: "A file's size is not negative.", member: "size") }
        if contentType.utf8.count > 255 || !contentType.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            return RequestEncodingError(
                .value, message: "A content type is 255 characters of ASCII at most, without controls.",
                member: "contentType")
        }
        if name.utf8.count > Self.greatestName {
            return RequestEncodingError(
                .value, message: "A file's name is \(Self.greatestName) bytes at most.", member: "name")
        }
        return nil
    }

    /// The maximum length of a name to send, in bytes of UTF-8. Its encoding in a header is up to three times as long.
    public static let greatestName = 1024
}
