import Foundation

/// The encoding of a file's hash: `Repr-Digest: sha-256=:…:`, by RFC 9530.
enum ServerDigest {
    static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    /// Returns the SHA-256 of a field's value as hexadecimal digits, or `nil` if it has none or several.
    static func sha256(in text: String) -> String? {
        var found: String?
        for member in text.split(separator: ",") {
            let member = member.trimmingCharacters(in: .blanks)
            guard member.hasPrefix("sha-256=") else { continue }
            let value = member.dropFirst(8)
            guard found == nil, value.count == 46, value.first == ":", value.last == ":",
                let bytes = Data(base64Encoded: String(value.dropFirst().dropLast())), bytes.count == 32
            else { return nil }
            found = bytes.map(hex).joined()
        }
        return found
    }

    /// Returns a field's value for a SHA-256 in hexadecimal digits.
    static func field(_ sha256: String) -> String {
        let digits = Array(sha256.utf8)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).map { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) ?? 0
        }
        return "sha-256=:\(Data(bytes).base64EncodedString()):"
    }
}
