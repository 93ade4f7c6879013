/// Percent-encodes parts of a URL.
public enum PathText {
    private static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    private static let query = unreserved.union("$(),';@!*:".utf8)

    /// Encodes a text as one path segment: slashes, spaces, quotes, plus signs and all characters beyond ASCII.
    ///
    /// `.` and `..` can't be encoded: URL parsers treat a percent-encoded dot as a dot.
    public static func segment(_ text: String) -> String {
        encode(text, keeping: unreserved)
    }

    /// Returns whether a text stays one segment in transit.
    public static func isSegment(_ text: String) -> Bool {
        !text.isEmpty && text != "." && text != ".."
    }

    /// Encodes a text as the value of a query option. A space becomes `%20`, and a plus sign `%2B`, since servers
    /// decode a plain one as a space.
    public static func queryValue(_ text: String) -> String {
        encode(text, keeping: query)
    }

    private static func encode(_ text: String, keeping kept: Set<UInt8>) -> String {
        let hex = Array("0123456789ABCDEF".utf8)
        var utf8: [UInt8] = []
        utf8.reserveCapacity(text.utf8.count * 2)
        for byte in text.utf8 {
            if kept.contains(byte) {
                utf8.append(byte)
            } else {
                utf8 += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 0xF)]]
            }
        }
        return String(decoding: utf8, as: UTF8.self)
    }
}
