/// The base64 encoding of versions.
enum Base64Text {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var out: [UInt8] = []
        var group: UInt32 = 0
        var count = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            count += 1
            if count == 3 {
                for shift in [18, 12, 6, 0] as [UInt32] { out.append(digits[Int(group >> shift & 63)]) }
                (group, count) = (0, 0)
            }
        }
        if count == 1 { out += [digits[Int(group >> 2)], digits[Int(group << 4 & 63)]] + Array("==".utf8) }
        if count == 2 {
            out += [digits[Int(group >> 10)], digits[Int(group >> 4 & 63)], digits[Int(group << 2 & 63)]]
            out.append(UInt8(ascii: "="))
        }
        return String(decoding: out, as: UTF8.self)
    }
}
