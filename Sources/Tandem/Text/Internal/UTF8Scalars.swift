/// Coding of scalars in valid UTF-8, without checks, errors or replacement characters.
enum UTF8Scalars {
    /// Returns the scalar at `index`, and moves the index past it.
    @inline(__always)
    static func decode(_ bytes: UnsafePointer<UInt8>, at index: inout Int) -> UInt32 {
        let first = UInt32(bytes[index])
        if first < 0x80 {
            index += 1
            return first
        }
        let second = UInt32(bytes[index + 1] & 0x3F)
        if first < 0xE0 {
            index += 2
            return (first & 0x1F) << 6 | second
        }
        let third = UInt32(bytes[index + 2] & 0x3F)
        if first < 0xF0 {
            index += 3
            return (first & 0x0F) << 12 | second << 6 | third
        }
        let fourth = UInt32(bytes[index + 3] & 0x3F)
        index += 4
        return (first & 0x07) << 18 | second << 12 | third << 6 | fourth
    }

    /// Writes `scalar` at `index`, and moves the index past it.
    @inline(__always)
    static func encode(_ scalar: UInt32, into bytes: UnsafeMutablePointer<UInt8>, at index: inout Int) {
        if scalar < 0x80 {
            bytes[index] = UInt8(truncatingIfNeeded: scalar)
            index += 1
        } else if scalar < 0x800 {
            bytes[index] = UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6)
            bytes[index + 1] = UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F)
            index += 2
        } else if scalar < 0x1_0000 {
            bytes[index] = UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12)
            bytes[index + 1] = UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 0x3F)
            bytes[index + 2] = UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F)
            index += 3
        } else {
            bytes[index] = UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18)
            bytes[index + 1] = UInt8(truncatingIfNeeded: 0x80 | scalar >> 12 & 0x3F)
            bytes[index + 2] = UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 0x3F)
            bytes[index + 3] = UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F)
            index += 4
        }
    }

    /// Returns the number of bytes of a scalar whose first byte is `first`.
    @inline(__always)
    static func length(startingWith first: UInt8) -> Int {
        first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    }
}
