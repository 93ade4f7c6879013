/// The encoding of a file name in `Content-Disposition`, by RFC 8187.
package enum FileName {
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

    /// Returns the field's value: ASCII without line breaks, for any name.
    package static func disposition(_ name: String) -> String {
        let hex = Array("0123456789ABCDEF".utf8)
        var text = Array("attachment; filename*=UTF-8''".utf8)
        for byte in name.utf8 {
            if plain.contains(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 0xF)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
