import Foundation
import HTTPTypes
import Tandem

/// The header fields of a file response. Each is `nil` unless it is well-formed.
package struct FileFields {
    package let fields: HTTPFields

    package init(_ response: HTTPResponse) {
        fields = response.headerFields
    }

    /// The entity tag without quotes. `nil` if it is missing, or weak and therefore unusable in a precondition.
    package var etag: String? {
        guard let text = fields[.eTag], text.utf8.count >= 3, text.utf8.count <= 1026, text.first == "\"",
            text.last == "\""
        else { return nil }
        let tag = text.dropFirst().dropLast()
        // The characters of `etagc` in RFC 9110, without those beyond ASCII.
        return tag.utf8.allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) }) ? String(tag) : nil
    }

    /// The SHA-256 in `Repr-Digest`, as hexadecimal digits.
    package var sha256: String? {
        guard let text = fields[.reprDigest] else { return nil }
        for member in text.split(separator: ",") {
            let member = member.drop { $0 == " " || $0 == "\t" }
            guard member.hasPrefix("sha-256=:") else { continue }
            let value = member.dropFirst(9).prefix { $0 != ":" }
            return Data(base64Encoded: String(value)).flatMap { FileDigest($0) }?.hex
        }
        return nil
    }

    package var length: Int64? { number(.contentLength) }
    package var uploadOffset: Int64? { number(.uploadOffset) }
    package var uploadLength: Int64? { number(.uploadLength) }

    /// Whether the body is not encoded.
    package var isPlain: Bool { fields[.contentEncoding].map { $0.lowercased() == "identity" } ?? true }

    /// `Content-Range: bytes 5-9/10`.
    package var range: (first: Int64, last: Int64, size: Int64)? {
        guard let text = fields[.contentRange], text.lowercased().hasPrefix("bytes ") else { return nil }
        let sides = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2, let size = Self.number(sides[1]) else { return nil }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < size
        else { return nil }
        return (first, last, size)
    }

    private func number(_ name: HTTPField.Name) -> Int64? {
        fields[name].flatMap { Self.number($0[...]) }
    }

    private static func number(_ text: Substring) -> Int64? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    /// Returns the `Repr-Digest` of a SHA-256 in hexadecimal digits.
    package static func digest(_ sha256: String) -> String { "sha-256=:\(base64(sha256)):" }

    /// Converts a SHA-256 from hexadecimal digits to base64. Returns an empty text if it is not valid.
    package static func base64(_ sha256: String) -> String {
        Data(FileDigest(hex: sha256)?.bytes ?? []).base64EncodedString()
    }
}

extension HTTPField.Name {
    package static let reprDigest = Self("repr-digest")!
    package static let uploadOffset = Self("upload-offset")!
    package static let uploadLength = Self("upload-length")!
}
