/// The percent encoding of what stands in an address.
public enum PathText {
    private static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    private static let query = unreserved.union("$(),';@!*:".utf8)

    /// A text as one segment of a path: slashes, spaces, quotes, plus signs and all beyond ASCII are encoded.
    ///
    /// `.` and `..` can't be written so: a percent-encoded dot is a dot to whoever takes addresses apart.
    public static func segment(_ text: String) -> String {
        encode(text, keeping: unreserved)
    }

    /// Whether a text stays one segment on its way.
    public static func isSegment(_ text: String) -> Bool {
        !text.isEmpty && text != "." && text != ".."
    }

    /// A text as the value of a query option: a space is `%20`, and a plus sign `%2B`, since servers read a plain one
    /// as a space.
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
