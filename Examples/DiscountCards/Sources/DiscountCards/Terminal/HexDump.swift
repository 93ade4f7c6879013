/// Formats bytes like `hexdump -C`: sixteen per line, with their characters.
enum HexDump {
    static func lines(_ bytes: some Collection<UInt8>) -> [String] {
        let bytes = Array(bytes)
        return stride(from: 0, to: bytes.count, by: 16).map { start in
            let line = bytes[start..<min(start + 16, bytes.count)]
            let digits = line.map { (($0 < 16 ? "0" : "") + String($0, radix: 16)) }.joined(separator: " ")
            let text = line.map { 0x20..<0x7F ~= $0 ? String(UnicodeScalar($0)) : "." }.joined()
            let offset = String(start, radix: 16)
            return String(repeating: "0", count: max(0, 8 - offset.count)) + offset
                + "  \(digits.padded(toColumns: 47))  |\(text)|"
        }
    }
}
