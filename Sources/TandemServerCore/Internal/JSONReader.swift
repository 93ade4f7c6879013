/// The reason why the server refuses a JSON text.
enum JSONProblem: Error {
    case malformed(at: Int)
    case tooDeep
}

/// Parses one JSON document by recursive descent, within a limit for its depth.
struct JSONReader {
    private let bytes: [UInt8]
    private let maximumDepth: Int
    /// Whether the parser accepts comments and trailing commas, and refuses numbers beyond a double's range, as
    /// Datasync's server does.
    private let readsLikeDotNet: Bool
    private var position = 0
    private var depth = 0

    static func read(
        _ bytes: [UInt8], maximumDepth: Int, readsLikeDotNet: Bool = false
    ) throws(JSONProblem) -> JSONValue {
        // Decoding replaces invalid UTF-8, and therefore changes the bytes.
        guard String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes) else { throw .malformed(at: 0) }
        var reader = JSONReader(bytes: bytes, maximumDepth: maximumDepth, readsLikeDotNet: readsLikeDotNet)
        try reader.skipSpace()
        let value = try reader.readValue()
        try reader.skipSpace()
        guard reader.position == bytes.count else { throw .malformed(at: reader.position) }
        return value
    }

    private mutating func readValue() throws(JSONProblem) -> JSONValue {
        switch peek() {
        case UInt8(ascii: "\""): return .text(try readString())
        case UInt8(ascii: "{"): return .object(try readObject())
        case UInt8(ascii: "["): return .array(try readArray())
        case UInt8(ascii: "t"): return try read("true", as: .bool(true))
        case UInt8(ascii: "f"): return try read("false", as: .bool(false))
        case UInt8(ascii: "n"): return try read("null", as: .null)
        default: return .number(try readNumber())
        }
    }

    private mutating func readObject() throws(JSONProblem) -> JSONObject {
        try enter()
        var members: [(name: String, value: JSONValue)] = []
        var names: [[UInt8]: Int] = [:]
        try skipSpace()
        while !skip(UInt8(ascii: "}")) {
            if !members.isEmpty {
                try expect(UInt8(ascii: ","))
                try skipSpace()
                if readsLikeDotNet, skip(UInt8(ascii: "}")) { break }
            }
            let name = try readString()
            try skipSpace()
            try expect(UInt8(ascii: ":"))
            try skipSpace()
            let value = try readValue()
            try skipSpace()
            // A dictionary, so that a large object does not need a linear search for each member.
            if let place = names[Array(name.utf8)] {
                members[place].value = value
            } else {
                names[Array(name.utf8)] = members.count
                members.append((name, value))
            }
        }
        depth -= 1
        return JSONObject(distinct: members)
    }

    private mutating func readArray() throws(JSONProblem) -> [JSONValue] {
        try enter()
        var elements: [JSONValue] = []
        try skipSpace()
        while !skip(UInt8(ascii: "]")) {
            if !elements.isEmpty {
                try expect(UInt8(ascii: ","))
                try skipSpace()
                if readsLikeDotNet, skip(UInt8(ascii: "]")) { break }
            }
            elements.append(try readValue())
            try skipSpace()
        }
        depth -= 1
        return elements
    }

    private mutating func enter() throws(JSONProblem) {
        position += 1
        depth += 1
        guard depth <= maximumDepth else { throw .tooDeep }
    }

    private mutating func readNumber() throws(JSONProblem) -> String {
        let start = position
        _ = skip(UInt8(ascii: "-"))
        if !skip(UInt8(ascii: "0")) { try readDigits() }
        if skip(UInt8(ascii: ".")) { try readDigits() }
        if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            try readDigits()
        }
        let digits = String(decoding: bytes[start..<position], as: UTF8.self)
        if readsLikeDotNet, Double(digits)?.isFinite != true { throw .malformed(at: start) }
        return digits
    }

    private mutating func readDigits() throws(JSONProblem) {
        let start = position
        while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw .malformed(at: position) }
    }

    private mutating func readString() throws(JSONProblem) -> String {
        try expect(UInt8(ascii: "\""))
        var content: [UInt8] = []
        while let byte = peek(), byte >= 0x20 {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"): try readEscape(into: &content)
            default: content.append(byte)
            }
        }
        throw .malformed(at: position)
    }

    private mutating func readEscape(into content: inout [UInt8]) throws(JSONProblem) {
        guard let byte = peek() else { throw .malformed(at: position) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(byte)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"):
            var code = try readCodeUnit()
            if (0xD800..<0xDC00).contains(code), skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")) {
                let low = try readCodeUnit()
                guard (0xDC00..<0xE000).contains(low) else { throw .malformed(at: position) }
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw .malformed(at: position) }
            content.append(contentsOf: String(scalar).utf8)
        default: throw .malformed(at: position)
        }
    }

    private mutating func readCodeUnit() throws(JSONProblem) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw .malformed(at: position)
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }

    private mutating func read(_ word: StaticString, as value: JSONValue) throws(JSONProblem) -> JSONValue {
        for offset in 0..<word.utf8CodeUnitCount { try expect(word.utf8Start[offset]) }
        return value
    }

    private mutating func skipSpace() throws(JSONProblem) {
        while let byte = peek() {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            case UInt8(ascii: "/") where readsLikeDotNet: try skipComment()
            default: return
            }
        }
    }

    private mutating func skipComment() throws(JSONProblem) {
        position += 1
        if skip(UInt8(ascii: "/")) {
            while let byte = peek(), byte != 0x0A { position += 1 }
            return
        }
        try expect(UInt8(ascii: "*"))
        while peek() != nil {
            if skip(UInt8(ascii: "*")) {
                if skip(UInt8(ascii: "/")) { return }
            } else {
                position += 1
            }
        }
        throw .malformed(at: position)
    }

    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skip(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ byte: UInt8) throws(JSONProblem) {
        guard skip(byte) else { throw .malformed(at: position) }
    }
}
