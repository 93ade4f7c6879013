/// Parses the values of a statement from SQLite's expanded text, in which they replace the statement's parameters.
struct ExpandedStatement {
    enum Value {
        case null
        case integer(Int64)
        case real(Double)
        case text([UInt8])
        case blob([UInt8])
    }

    private let plain: [UInt8]
    private let whole: UnsafeRawBufferPointer
    private var place = 0
    private var wholePlace = 0
    private var parameters = 0
    /// The closing quote of the current text or name.
    private var quote: UInt8?
    private var isLost = false

    init(_ plain: String, whole: UnsafeRawBufferPointer) {
        self.plain = Array(plain.utf8)
        self.whole = whole
    }

    /// Whether everything was parsed.
    var isAtEnd: Bool { !isLost && place == plain.count && wholePlace == whole.count }

    /// Returns the next value, and the number of its parameter, counted from 1.
    mutating func next() -> (parameter: Int, value: Value)? {
        while !isLost, place < plain.count {
            let byte = plain[place]
            if quote == nil, byte == UInt8(ascii: "?") {
                place += 1
                var number = 0
                while place < plain.count, let digit = Self.digit(plain[place]) {
                    number = number * 10 + digit
                    place += 1
                }
                if number == 0 { number = parameters + 1 }
                parameters = max(parameters, number)
                guard let value = readValue() else { break }
                return (number, value)
            }
            if let end = quote {
                if byte == end { quote = nil }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            }
            guard wholePlace < whole.count, whole[wholePlace] == byte else { break }
            place += 1
            wholePlace += 1
        }
        if place < plain.count { isLost = true }
        return nil
    }

    private mutating func readValue() -> Value? {
        guard wholePlace < whole.count else { return nil }
        switch whole[wholePlace] {
        case UInt8(ascii: "N"):
            wholePlace += 4
            return .null
        case UInt8(ascii: "'"):
            wholePlace += 1
            return readText().map { .text($0) }
        case UInt8(ascii: "x"):
            wholePlace += 2
            guard let digits = readText(), digits.count.isMultiple(of: 2) else { return nil }
            return .blob(
                stride(from: 0, to: digits.count, by: 2).map { Self.hex(digits[$0]) << 4 | Self.hex(digits[$0 + 1]) })
        default:
            let start = wholePlace
            while wholePlace < whole.count, Self.isOfNumber(whole[wholePlace]) { wholePlace += 1 }
            let text = String(decoding: whole[start..<wholePlace], as: UTF8.self)
            return Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) }
        }
    }

    /// Returns the rest of a text whose opening quote was read.
    private mutating func readText() -> [UInt8]? {
        var text: [UInt8] = []
        while wholePlace < whole.count {
            let byte = whole[wholePlace]
            wholePlace += 1
            if byte != UInt8(ascii: "'") {
                text.append(byte)
            } else if wholePlace < whole.count, whole[wholePlace] == byte {
                text.append(byte)
                wholePlace += 1
            } else {
                return text
            }
        }
        return nil
    }

    private static func digit(_ byte: UInt8) -> Int? {
        (0x30...0x39).contains(byte) ? Int(byte) - 0x30 : nil
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        digit(byte) != nil
            || [UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e")].contains(byte)
    }

    private static func hex(_ byte: UInt8) -> UInt8 {
        byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x61 + 10
    }
}
