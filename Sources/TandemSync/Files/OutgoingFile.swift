import Crypto
import Tandem

/// A file on its way to a server.
public struct OutgoingFile: Sendable {
    /// What it is known by: 32 lower-case hexadecimal digits.
    public var id: String
    /// What people call it, with any characters: a server never makes a path of it.
    public var name: String
    /// Its media type, such as `image/jpeg`.
    public var contentType: String
    /// How many bytes it has.
    public var size: Int64
    /// The SHA-256 of its bytes: 64 lower-case hexadecimal digits.
    public var sha256: String
    /// Where its bytes are.
    public var bytes: any FileBytes
    /// Called with its place on the server before its first byte goes.
    package var onPlace: (@Sendable (String) async throws -> Void)?

    /// A file whose size and hash are known.
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

    /// A small file, in memory.
    public init(id: String, name: String, contentType: String, bytes: [UInt8]) {
        self.init(
            id: id, name: name, contentType: contentType, size: Int64(bytes.count),
            sha256: HexText.of(SHA256.hash(data: bytes)), bytes: BytesInMemory(bytes: bytes))
    }
}

/// Where the bytes of a file are.
public protocol FileBytes: Sendable {
    /// Some bytes from an offset on: as many as asked for, fewer only where the file ends.
    ///
    /// It is called by one task at a time for one upload.
    func read(at offset: Int64, count: Int) async throws -> [UInt8]
}

private struct BytesInMemory: FileBytes {
    let bytes: [UInt8]

    func read(at offset: Int64, count: Int) -> [UInt8] {
        guard offset >= 0, offset < bytes.count, count > 0 else { return [] }
        return Array(bytes[Int(offset)..<min(bytes.count, Int(offset) + count)])
    }
}

/// What a server says of a file that it has taken.
public struct UploadedFile: Hashable, Sendable {
    /// Where it can be read and deleted from now on.
    public var url: String
    /// Which file that is, in the server's words, without quotes; `nil` from a server that does not say.
    public var etag: String?
    /// Whether the server says that it had the file whole before: what this upload has not made is not this client's to
    /// take back.
    public var wasThere: Bool

    /// A file that a server has.
    public init(url: String, etag: String?, wasThere: Bool = false) {
        self.url = url
        self.etag = etag
        self.wasThere = wasThere
    }
}

extension OutgoingFile {
    /// Says where the file will be, before its first byte goes: for those who write a ``RemoteFiles`` and know that by then.
    ///
    /// The store writes it down. An upload that has no answer, as it was cancelled or its process died, may have arrived
    /// all the same: if nobody needs the file any more, it is deleted there. Say the same place with each try: what an
    /// earlier one may have left at another is not deleted.
    ///
    /// For example:
    ///
    /// ```swift
    /// let place = try await api.place(of: file.id)
    /// try await file.willBe(at: place.url)
    /// try await api.put(file.bytes, at: place)
    /// ```
    ///
    /// Who hands on a file in another form copies it and changes ``bytes``: nothing is written down by way of a file that is
    /// made anew.
    ///
    /// - Parameter url: What the answer's ``UploadedFile/url`` will be.
    /// - Throws: ``RemoteFailure/notSent(_:)`` if nobody wants the file any more, or it can't be written down. The upload
    ///   is to end with it.
    public func willBe(at url: String) async throws(RemoteFailure) {
        do {
            try await onPlace?(url)
        } catch {
            throw .notSent(error)
        }
    }

    /// Whether it can be sent at all: for those who write a ``RemoteFiles``.
    ///
    /// - Throws: ``RemoteFailure/unsendable(_:)`` if the ID, the hash, the size, the content type or the name is none.
    public func check() throws(RemoteFailure) {
        if let problem { throw .unsendable(problem) }
    }

    private var problem: Unsendable? {
        if !HexText.isHex(id, 32) {
            return Unsendable(.invalidID, "A file's ID is 32 lower-case hexadecimal digits.")
        }
        if !HexText.isHex(sha256, 64) {
            return Unsendable(.value, "A file's SHA-256 is 64 lower-case hexadecimal digits.", member: "sha256")
        }
        if size < 0 { return Unsendable(.value, "A file's size is not negative.", member: "size") }
        if contentType.utf8.count > 255 || !contentType.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            return Unsendable(
                .value, "A content type is 255 characters of ASCII at most, without controls.", member: "contentType")
        }
        if name.utf8.count > Self.greatestName {
            return Unsendable(.value, "A file's name is \(Self.greatestName) bytes at most.", member: "name")
        }
        return nil
    }

    /// The longest name that travels, in bytes of UTF-8. Encoded for a header it has three times as many.
    public static let greatestName = 1024
}

/// Bytes as hexadecimal digits.
enum HexText {
    static func of(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }, as: UTF8.self)
    }

    static func isHex(_ text: String, _ count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
                default: false
                }
            }
    }
}
