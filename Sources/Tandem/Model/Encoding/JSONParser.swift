/// The parser behind ``ExactJSON/parse(_:)``: a single pass over the bytes by recursive descent.
///
/// ``ExactJSON/maximumDepth`` limits the recursion. Every access to the bytes follows a bounds check, because
/// `UnsafeBufferPointer` does not check bounds in a release build.
struct JSONParser {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0
    /// Whether another program wrote the text: see ``ExactJSON/parseForeign(_:)``.
    private let isForeign: Bool
    /// Whether a number that `Double` would round stays a text: see ``ExactJSON/parseWire(_:maximumDigits:)``.
    private let keepsDigits: Bool
    private let maximumDigits: Int
    /// The number of members in the last object. The objects of a list usually have the same keys.
    private var memberCount = 0
    /// The keys of the last object that had to be sorted, in their original order.
    private var unsortedKeys: [String] = []
    /// The indices of these keys in sorted order.
    private var order: [Int] = []
    /// The memory in which strings with escape sequences are decoded.
    private var decoded: [UInt8] = []

    init(
        _ bytes: UnsafeBufferPointer<UInt8>, isForeign: Bool = false, keepsDigits: Bool = false,
        maximumDigits: Int = .max
    ) {
        self.bytes = bytes
        self.isForeign = isForeign
        self.keepsDigits = keepsDigits
        self.maximumDigits = maximumDigits
    }

    mutating func parseDocument() throws(InvalidEncoding) -> JSONNode {
        skipWhiteSpace()
        let node = try parseValue()
        skipWhiteSpace()
        guard position == bytes.count else {
            throw InvalidEncoding("JSON", code: .trailingBytes, problem: "more text follows the value", at: position)
        }
        return node
    }
}

// MARK: - Values

extension JSONParser {
    private mutating func parseValue() throws(InvalidEncoding) -> JSONNode {
        guard let first = peek() else { throw failure("a value is missing") }
        switch first {
        case UInt8(ascii: "\""):
            position += 1
            return .text(try parseString())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return try parseNumber()
        case UInt8(ascii: "["):
            position += 1
            return try parseArray()
        case UInt8(ascii: "{"):
            position += 1
            return try parseObject()
        case UInt8(ascii: "n"):
            try expect("null")
            return .null
        case UInt8(ascii: "t"):
            try expect("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try expect("false")
            return .bool(false)
        default:
            throw failure("no value begins like this")
        }
    }

    private mutating func parseArray() throws(InvalidEncoding) -> JSONNode {
        try enter()
        var elements: [JSONNode] = []
        skipWhiteSpace()
        if !skip(UInt8(ascii: "]")) {
            while true {
                skipWhiteSpace()
                elements.append(try parseValue())
                skipWhiteSpace()
                if skip(UInt8(ascii: "]")) { break }
                guard skip(UInt8(ascii: ",")) else { throw failure("a comma or the end of the array is missing") }
            }
        }
        depth -= 1
        return .array(elements)
    }

    private mutating func parseObject() throws(InvalidEncoding) -> JSONNode {
        skipWhiteSpace()
        if skip(UInt8(ascii: "}")) {
            try enter()
            depth -= 1
            return .object([])
        }
        var members: [(key: String, value: JSONNode)] = []
        members.reserveCapacity(memberCount)
        while true {
            skipWhiteSpace()
            let keyPosition = position
            guard skip(UInt8(ascii: "\"")) else { throw failure("a key is missing") }
            var key = try parseString()
            skipWhiteSpace()
            guard skip(UInt8(ascii: ":")) else { throw failure("a colon is missing") }
            skipWhiteSpace()

            if !isForeign, key.utf8.first == ExactJSON.dollar {
                key.unicodeScalars.removeFirst()
                if key.utf8.first != ExactJSON.dollar {
                    guard members.isEmpty, let node = try parseMarked(key, at: keyPosition) else {
                        throw InvalidEncoding(
                            "JSON", code: .malformed, problem: "the key $\(key) has no meaning", at: keyPosition)
                    }
                    return node
                }
            }
            // Only now is it clear that this is not the notation for a blob, which has no depth.
            if members.isEmpty { try enter() }
            members.append((key, try parseValue()))
            skipWhiteSpace()
            if skip(UInt8(ascii: "}")) { break }
            guard skip(UInt8(ascii: ",")) else { throw failure("a comma or the end of the object is missing") }
        }
        depth -= 1
        memberCount = min(members.count, 64)
        return .object(try sorted(members))
    }

    /// Returns the members sorted by their keys, which must be distinct.
    private mutating func sorted(
        _ members: [(key: String, value: JSONNode)]
    ) throws(InvalidEncoding) -> [(key: String, value: JSONNode)] {
        if members.count == unsortedKeys.count,
            zip(members, unsortedKeys).allSatisfy({ UTF8Order.compare($0.key, $1) == 0 })
        {
            return order.map { members[$0] }
        }
        guard !ExactJSON.isStrictlyAscending(members) else { return members }
        let order = members.indices.sorted { UTF8Order.compare(members[$0].key, members[$1].key) < 0 }
        let sorted = order.map { members[$0] }
        try ExactJSON.checkDistinct(sorted)
        (unsortedKeys, self.order) = (members.map(\.key), order)
        return sorted
    }

    /// Parses the rest after the colon of `$real` or `$blob`, or returns nil if `name` is neither.
    private mutating func parseMarked(_ name: String, at keyPosition: Int) throws(InvalidEncoding) -> JSONNode? {
        guard name == "real" || name == "blob" else { return nil }
        guard skip(UInt8(ascii: "\"")) else { throw failure("$\(name) has no text") }
        var text = try parseString()
        skipWhiteSpace()
        guard skip(UInt8(ascii: "}")) else { throw failure("$\(name) is not alone") }

        let node: JSONNode? = text.withUTF8 { utf8 in
            if name == "blob" { return Base64.decode(utf8).map { .blob($0) } }
            guard let bits = Self.hexBits(utf8) else { return nil }
            let value = Double(bitPattern: bits)
            return value.isFinite ? nil : .real(value)
        }
        guard let node else {
            throw InvalidEncoding(
                "JSON", code: .malformed, problem: "the text of $\(name) is not valid", at: keyPosition)
        }
        return node
    }

    /// Returns the value of 16 lower-case hexadecimal digits.
    static func hexBits(_ utf8: UnsafeBufferPointer<UInt8>) -> UInt64? {
        guard utf8.count == 16 else { return nil }
        var bits: UInt64 = 0
        for byte in utf8 {
            guard let digit = hexValue(byte), !(0x41...0x46).contains(byte) else { return nil }
            bits = bits << 4 | UInt64(digit)
        }
        return bits
    }
}

// MARK: - Numbers

extension JSONParser {
    /// The powers of ten that a `Double` represents exactly.
    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    private mutating func parseNumber() throws(InvalidEncoding) -> JSONNode {
        let start = position
        let isNegative = skip(UInt8(ascii: "-"))
        // The digits as a single integer, and whether it is exact.
        var mantissa: UInt64 = 0
        var isExact = true

        if skip(UInt8(ascii: "0")) {
            guard digit() == nil else { throw failure("a number begins with a superfluous zero") }
        } else {
            guard skipDigits(adding: &mantissa, isExact: &isExact) > 0 else { throw failure("a digit is missing") }
        }

        var fractionDigits = 0
        var isInteger = true
        if skip(UInt8(ascii: ".")) {
            isInteger = false
            fractionDigits = skipDigits(adding: &mantissa, isExact: &isExact)
            guard fractionDigits > 0 else { throw failure("a digit is missing after the point") }
        }

        var exponent = 0
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            isInteger = false
            let isNegative = skip(UInt8(ascii: "-"))
            if !isNegative { _ = skip(UInt8(ascii: "+")) }
            let exponentStart = position
            while let digit = digit() {
                // The slow path reads the text itself. So the limit only needs to be beyond the range of the fast path.
                exponent = min(exponent * 10 + Int(digit), 1_000_000)
                position += 1
            }
            guard position > exponentStart else { throw failure("a digit is missing in the exponent") }
            if isNegative { exponent = -exponent }
        }

        guard position - start <= maximumDigits else {
            throw InvalidEncoding(
                "JSON", code: .outOfRange, problem: "a number has more than \(maximumDigits) characters", at: start)
        }

        if isInteger {
            let limit = isNegative ? UInt64(1) << 63 : UInt64(Int64.max)
            if isForeign, isNegative, mantissa == 0, isExact { return .real(-0.0) }
            guard isExact, mantissa <= limit else {
                if isForeign {
                    return .text(
                        String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self))
                }
                throw InvalidEncoding("JSON", code: .outOfRange, problem: "an integer does not fit 64 bits", at: start)
            }
            return .integer(Int64(truncatingIfNeeded: isNegative ? 0 &- mantissa : mantissa))
        }

        // A product or quotient of two exact doubles is rounded once, and so is correct.
        let power = exponent - fractionDigits
        // A double returns up to 15 digits unchanged.
        if isExact, mantissa <= (keepsDigits ? 999_999_999_999_999 : 1 << 53), abs(power) <= 22 {
            let digits = Double(mantissa)
            let magnitude = power < 0 ? digits / Self.powersOfTen[-power] : digits * Self.powersOfTen[power]
            return .real(isNegative ? -magnitude : magnitude)
        }
        let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
        guard let value = Double(text), value.isFinite, !keepsDigits || value.hasDigits(of: text) else {
            if keepsDigits { return .text(text) }
            throw InvalidEncoding("JSON", code: .outOfRange, problem: "a number is too large", at: start)
        }
        return .real(value)
    }

    /// Skips digits, adds them to `mantissa` while they fit, and returns their number.
    private mutating func skipDigits(adding mantissa: inout UInt64, isExact: inout Bool) -> Int {
        let start = position
        while let digit = digit() {
            let (product, productOverflow) = mantissa.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflow) = product.addingReportingOverflow(UInt64(digit))
            if productOverflow || sumOverflow { isExact = false } else { mantissa = sum }
            position += 1
        }
        return position - start
    }

    private func digit() -> UInt8? {
        guard let byte = peek(), (0x30...0x39).contains(byte) else { return nil }
        return byte - 0x30
    }
}

// MARK: - Strings

extension JSONParser {
    /// Parses a string whose opening quote was skipped.
    private mutating func parseString() throws(InvalidEncoding) -> String {
        let start = position
        var isASCII = true
        skipPlainText()
        while let byte = peek() {
            if byte == UInt8(ascii: "\"") {
                let content = UnsafeBufferPointer(rebasing: bytes[start..<position])
                if !isASCII { try checkUTF8(content, at: start) }
                position += 1
                return String(decoding: content, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") { return try parseEscapedString(from: start) }
            guard byte >= 0x20 else { throw failure("a control character is not escaped") }
            if byte >= 0x80 { isASCII = false }
            position += 1
        }
        throw failure("a string does not end")
    }

    /// Skips plain ASCII, eight bytes at a time. It stops at quotes, backslashes, control characters and multi-byte
    /// scalars.
    private mutating func skipPlainText() {
        guard let base = bytes.baseAddress else { return }
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        while bytes.count - position >= 8 {
            let word = UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self)
            let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            // The subtraction sets a byte's high bit if the byte is less than the subtrahend. `word` adds bits that
            // were already set.
            let stops = (quotes &- ones) | (backslashes &- ones) | (word &- ones &* 0x20) | word
            guard stops & highs == 0 else { return }
            position += 8
        }
    }

    /// Parses the string that begins at `start` and has its first backslash at the current position.
    private mutating func parseEscapedString(from start: Int) throws(InvalidEncoding) -> String {
        // The array is taken, so that appending does not copy it.
        var content: [UInt8] = []
        swap(&content, &decoded)
        defer { swap(&content, &decoded) }
        content.removeAll(keepingCapacity: true)
        content.append(contentsOf: bytes[start..<position])
        while let byte = peek() {
            switch byte {
            case UInt8(ascii: "\""):
                var problem: InvalidEncoding?
                let string = content.withUnsafeBufferPointer { content in
                    do throws(InvalidEncoding) { try checkUTF8(content, at: start) } catch { problem = error }
                    return String(decoding: content, as: UTF8.self)
                }
                if let problem { throw problem }
                position += 1
                return string
            case UInt8(ascii: "\\"):
                position += 1
                try parseEscape(into: &content)
            default:
                guard byte >= 0x20 else { throw failure("a control character is not escaped") }
                content.append(byte)
                position += 1
            }
        }
        throw failure("a string does not end")
    }

    private mutating func parseEscape(into content: inout [UInt8]) throws(InvalidEncoding) {
        guard let byte = peek() else { throw failure("a string does not end") }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "u"):
            position += 1
            if let utf8 = Unicode.UTF8.encode(try parseEscapedScalar()) { content.append(contentsOf: utf8) }
            return
        default: throw failure("no escape sequence begins like this")
        }
        position += 1
    }

    /// Parses the four digits after `\u`, and the low surrogate that must follow a high one.
    private mutating func parseEscapedScalar() throws(InvalidEncoding) -> Unicode.Scalar {
        let start = position
        let unit = try parseCodeUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        if unit < 0xDC00, skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")) {
            let low = try parseCodeUnit()
            if (0xDC00...0xDFFF).contains(low),
                let scalar = Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
            {
                return scalar
            }
        }
        throw InvalidEncoding("JSON", code: .malformed, problem: "half of a surrogate pair is missing", at: start)
    }

    private mutating func parseCodeUnit() throws(InvalidEncoding) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek(), let digit = Self.hexValue(byte) else {
                throw failure("a hexadecimal digit is missing")
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// Throws unless `content` is UTF-8 by table 3-7 of the Unicode standard.
    ///
    /// `String(decoding:as:)` would replace invalid bytes, and `String(validating:as:)` takes three times as long.
    private func checkUTF8(_ content: UnsafeBufferPointer<UInt8>, at start: Int) throws(InvalidEncoding) {
        var index = 0
        while index < content.count {
            let lead = content[index]
            index += 1
            if lead < 0x80 { continue }
            // The number of continuation bytes, and the valid range of the first of them. The range excludes overlong
            // forms, surrogates, and scalars beyond U+10FFFF.
            let (following, second): (Int, ClosedRange<UInt8>) =
                switch lead {
                case 0xC2...0xDF: (1, 0x80...0xBF)
                case 0xE0: (2, 0xA0...0xBF)
                case 0xED: (2, 0x80...0x9F)
                case 0xE1...0xEF: (2, 0x80...0xBF)
                case 0xF0: (3, 0x90...0xBF)
                case 0xF1...0xF3: (3, 0x80...0xBF)
                case 0xF4: (3, 0x80...0x8F)
                default: (0, 0x80...0xBF)
                }
            guard following > 0, content.count - index >= following, second.contains(content[index]),
                content[index + 1..<index + following].allSatisfy({ $0 & 0xC0 == 0x80 })
            else {
                throw InvalidEncoding("JSON", code: .malformed, problem: "a string is not UTF-8", at: start)
            }
            index += following
        }
    }
}

// MARK: - Bytes

extension JSONParser {
    @inline(__always)
    private func peek() -> UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    @inline(__always)
    private mutating func skip(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    @inline(__always)
    private mutating func skipWhiteSpace() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func expect(_ word: StaticString) throws(InvalidEncoding) {
        for offset in 0..<word.utf8CodeUnitCount where !skip(word.utf8Start[offset]) {
            throw failure("a literal is misspelled")
        }
    }

    private mutating func enter() throws(InvalidEncoding) {
        depth += 1
        guard depth <= ExactJSON.maximumDepth else {
            throw InvalidEncoding(
                "JSON", code: .tooDeep, problem: "there are more than \(ExactJSON.maximumDepth) levels", at: position)
        }
    }

    private func failure(_ problem: String) -> InvalidEncoding {
        InvalidEncoding("JSON", code: position < bytes.count ? .malformed : .truncated, problem: problem, at: position)
    }
}
