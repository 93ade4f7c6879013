/// The Base64 of RFC 4648 with padding, in strict form: each sequence of bytes has exactly one text.
///
/// Foundation's decoder ignores bits that are not part of the value, so different texts decode to the same bytes.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each character, or 255.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    private static let padding = UInt8(ascii: "=")

    static func append(_ bytes: [UInt8], to out: inout [UInt8]) {
        alphabet.withUnsafeBufferPointer { alphabet in
            var index = 0
            while index + 3 <= bytes.count {
                let group = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
                out.append(alphabet[group >> 18])
                out.append(alphabet[group >> 12 & 63])
                out.append(alphabet[group >> 6 & 63])
                out.append(alphabet[group & 63])
                index += 3
            }
            switch bytes.count - index {
            case 1:
                let group = Int(bytes[index]) << 4
                out.append(alphabet[group >> 6])
                out.append(alphabet[group & 63])
                out.append(padding)
                out.append(padding)
            case 2:
                let group = Int(bytes[index]) << 10 | Int(bytes[index + 1]) << 2
                out.append(alphabet[group >> 12])
                out.append(alphabet[group >> 6 & 63])
                out.append(alphabet[group & 63])
                out.append(padding)
            default: break
            }
        }
    }

    /// Returns the bytes that `text` encodes, or nil if `text` is not a result of ``append(_:to:)``.
    static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        guard !text.isEmpty else { return [] }
        var characters = text.count
        while characters > text.count - 2, text[characters - 1] == padding { characters -= 1 }

        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters * 3 / 4)
        // The bits that were read and are not yet part of a byte.
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for index in 0..<characters {
            let value = values[Int(text[index])]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
                bits &= (1 << bitCount) - 1
            }
        }
        return bits == 0 ? bytes : nil
    }
}
