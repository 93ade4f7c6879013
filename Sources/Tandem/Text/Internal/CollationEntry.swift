/// The entry of a scalar in a collation table.
///
/// The lowest two bits are the kind. Flags follow, and then the content, which depends on the kind.
struct CollationEntry {
    enum Kind: UInt32 {
        /// A scalar whose primary weight follows from its number: a Chinese character, a Korean syllable, or an
        /// unassigned scalar.
        case implicit = 0
        /// A single element with a primary weight of at most two bytes and the common secondary weight.
        case single = 1
        /// Any number of elements, which are in the pool.
        case pool = 2
        /// A single element with a primary weight of three bytes and the other weights common.
        case rare = 3
    }

    /// The flags, in the order of the tables' bits.
    enum Flag {
        /// The canonical decomposition begins with a mark.
        static let begins: UInt32 = 1 << 2
        /// The canonical decomposition ends with a mark.
        static let ends: UInt32 = 1 << 3
        /// A contraction may continue after the scalar.
        static let starts: UInt32 = 1 << 4
        /// A contraction may contain the scalar after others.
        static let continues: UInt32 = 1 << 5
        /// The scalar is the canonical text of its elements.
        static let plain: UInt32 = 1 << 6
        /// The scalar is less than the canonical text of its elements. Not for kind `single`.
        static let below: UInt32 = 1 << 7
        /// The primary weight has two bytes. Only for kind `single`.
        static let twoBytes: UInt32 = 1 << 7
        /// The scalar is a decimal digit. Not for kind `rare`.
        static let digit: UInt32 = 1 << 8
        /// The scalar is the heading of its primary weight. Not for kind `rare`.
        static let heading: UInt32 = 1 << 9
        /// The scalar decomposes to a Chinese character. Only for kind `implicit`.
        static let decomposes: UInt32 = 1 << 10
    }

    let rawValue: UInt32

    @inline(__always)
    init(rawValue: UInt32) { self.rawValue = rawValue }

    @inline(__always)
    var kind: Kind { Kind(rawValue: rawValue & 3) ?? .implicit }

    @inline(__always)
    func has(_ flag: UInt32) -> Bool { rawValue & flag != 0 }

    @inline(__always)
    var isPlain: Bool { kind == .implicit || rawValue & Flag.plain != 0 }

    /// Whether the scalar is a decimal digit.
    @inline(__always)
    var isDigit: Bool { rawValue & Flag.digit != 0 && kind != .rare }

    /// Whether the scalar is the heading of its primary weight.
    var isHeading: Bool { kind == .rare ? isPlain : rawValue & Flag.heading != 0 }

    /// The number of the tertiary weight of a single element.
    @inline(__always)
    var tertiary: Int { Int(rawValue >> 10 & 63) }

    /// The primary weight of a single element: two bytes, or one byte and zero.
    @inline(__always)
    var primary: UInt32 { rawValue >> 16 }

    /// The primary weight of kind `rare`: three bytes.
    @inline(__always)
    var rarePrimary: UInt32 { rawValue >> 8 }

    var count: Int { Int(rawValue >> 10 & 31) }
    var offset: Int { Int(rawValue >> 15) }

    /// Whether the scalars of both entries must be collated together, if `next` follows this.
    @inline(__always)
    func interacts(with next: CollationEntry) -> Bool {
        // Nearly all scalars have none of these flags. Those of kind `rare` never have them.
        if rawValue & (Flag.ends | Flag.starts) == 0 { return false }
        if next.rawValue & (Flag.begins | Flag.continues) == 0 { return false }
        return has(Flag.starts) || next.has(Flag.begins)
    }
}

/// A collation element: a primary, a secondary and a tertiary weight.
struct CollationElement: Hashable {
    /// From the lowest bit: the primary weight in three bytes, its length, and the numbers of the other two weights.
    private let rawValue: UInt64

    init(primary: UInt32, length: Int, secondary: Int, tertiary: Int) {
        rawValue = UInt64(primary) | UInt64(length) << 24 | UInt64(secondary) << 26 | UInt64(tertiary) << 36
    }

    /// The primary weight, whose first byte is the highest of three.
    var primary: UInt32 { UInt32(truncatingIfNeeded: rawValue & 0xFF_FFFF) }
    /// The number of bytes of the primary weight. Zero if the element is ignored at the first level.
    var length: Int { Int(rawValue >> 24 & 3) }
    var secondary: Int { Int(rawValue >> 26 & 1023) }
    var tertiary: Int { Int(rawValue >> 36 & 63) }
}
