/// The rules for member names.
package enum MemberName {
    /// Returns whether a name matches `[A-Za-z_][A-Za-z0-9_]*`.
    package static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return name.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "_") }
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII letter or digit.
    @inlinable package var isAlphanumeric: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
