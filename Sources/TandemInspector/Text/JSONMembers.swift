import Foundation

/// Splits a JSON object into its members without changing them, so that no digits of their numbers are lost.
enum JSONMembers {
    /// Returns the members of an object in their order, or nil if the data is not an object.
    ///
    /// The values are not checked: they must be parsed next.
    static func split(_ data: Data) -> [(name: String, value: Data)]? {
        var scanner = Scanner(bytes: Array(data))
        return scanner.object()
    }

    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        mutating func object() -> [(name: String, value: Data)]? {
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
            guard consume("{") else { return nil }
            var members: [(name: String, value: Data)] = []
            if consume("}") { return isAtEnd ? members : nil }
            repeat {
                skipSpaces()
                guard let name = string(), consume(":"), let value = skippedValue() else { return nil }
                members.append((name, value))
            } while consume(",")
            return consume("}") && isAtEnd ? members : nil
        }

        private var isAtEnd: Bool { bytes[position...].allSatisfy(Self.isSpace) }

        private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

        private mutating func skipSpaces() {
            while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
        }

        /// Skips spaces and a byte. Returns `false` if there is another byte.
        private mutating func consume(_ scalar: Unicode.Scalar) -> Bool {
            skipSpaces()
            guard position < bytes.count, bytes[position] == UInt8(ascii: scalar) else { return false }
            position += 1
            return true
        }

        private mutating func string() -> String? {
            let start = position
            guard skipString() else { return nil }
            return try? JSONDecoder().decode(String.self, from: Data(bytes[start..<position]))
        }

        private mutating func skipString() -> Bool {
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return false }
            position += 1
            while position < bytes.count {
                switch bytes[position] {
                case UInt8(ascii: "\""):
                    position += 1
                    return true
                case UInt8(ascii: "\\"): position += 2
                default: position += 1
                }
            }
            return false
        }

        /// Returns the bytes up to the comma or the brace that ends the value.
        private mutating func skippedValue() -> Data? {
            let start = position
            var depth = 0
            while position < bytes.count {
                switch bytes[position] {
                case UInt8(ascii: "\""):
                    guard skipString() else { return nil }
                    continue
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"): depth -= 1
                case UInt8(ascii: "}"):
                    if depth == 0 { return Data(bytes[start..<position]) }
                    depth -= 1
                case UInt8(ascii: ","):
                    if depth == 0 { return Data(bytes[start..<position]) }
                default: break
                }
                position += 1
            }
            return nil
        }
    }
}
