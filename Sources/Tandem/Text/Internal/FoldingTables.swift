/// The tables for folding, unpacked once from the generated literals in about half a millisecond.
enum FoldingTables {
    static let sort = FoldTable(sortData)
    static let search = FoldTable(searchData)
    static let normal = NormalTable(normalData)
}

/// The result of folding a scalar for a key.
struct FoldEntry {
    enum Kind: Int32 {
        /// A scalar, stored as its difference from the folded one.
        case single = 0
        /// Two or more scalars, stored as their offset in the pool.
        case sequence = 1
        /// Nothing: the scalar is dropped.
        case nothing = 2
        /// White space.
        case space = 3
        /// A spacing accent: it and the marks on it are dropped.
        case accent = 4
    }

    let rawValue: Int32

    @inline(__always)
    init(rawValue: Int32) { self.rawValue = rawValue }

    /// Whether the result is a single scalar that does not depend on the neighbours, as for most scalars.
    @inline(__always)
    var isFastSingle: Bool { rawValue & 15 == 0 }

    /// Whether the result can depend on neighbours. This holds for marks and for scalars that compose with the previous
    /// one.
    @inline(__always)
    var isSlow: Bool { rawValue & 8 != 0 }

    /// Whether it can be the base of later marks.
    @inline(__always)
    var leavesText: Bool { rawValue & 7 != Kind.nothing.rawValue && rawValue & 7 != Kind.accent.rawValue }

    @inline(__always)
    var kind: Kind { Kind(rawValue: rawValue & 7) ?? .single }

    @inline(__always)
    var difference: Int32 { rawValue >> 4 }

    var offset: Int { Int(rawValue >> 9) }
    var count: Int { Int(rawValue >> 4) & 31 }
}

/// The folding table of a key.
struct FoldTable: @unchecked Sendable {
    // Proof of `@unchecked Sendable`: the pointers are to memory that is never freed, and never written after `init`.
    let entries: ScalarTable
    let pool: UnsafePointer<UInt32>
    /// The folded byte of each ASCII scalar, or one of the two constants below.
    let ascii: UnsafePointer<UInt8>

    static let nothing: UInt8 = 0xFE
    static let space: UInt8 = 0xFF

    init(_ literal: StaticString) {
        var reader = TableReader(literal)
        var builder = ScalarTable.Builder()
        var pool: [UInt32] = []
        reader.runs { scalar, value in
            builder.update(scalar) { $0 = Int32(value) }
        }
        reader.sequences(into: &pool) { scalar, offset, count in
            builder.update(scalar) { $0 = Int32(offset << 9 | count << 4) | FoldEntry.Kind.sequence.rawValue }
        }
        reader.sequences(into: &pool) { scalar, offset, count in
            builder.update(scalar) { $0 = Int32(offset << 9 | count << 4 | 8) | FoldEntry.Kind.sequence.rawValue }
        }
        assert(reader.isAtEnd)
        let entries = builder.build()
        self.entries = entries
        self.pool = immortalCopy(of: pool)
        ascii = immortalCopy(
            of: (0..<128).map { (scalar: UInt32) -> UInt8 in
                let entry = FoldEntry(rawValue: entries[scalar])
                switch entry.kind {
                case .single: return UInt8(Int32(scalar) + entry.difference)
                case .space: return Self.space
                case .nothing, .accent, .sequence: return Self.nothing
                }
            })
    }

    @inline(__always)
    subscript(scalar: UInt32) -> FoldEntry { FoldEntry(rawValue: entries[scalar]) }

    /// Appends the folded form of `scalar`. White space becomes U+0020.
    func append(_ scalar: UInt32, to scalars: inout [UInt32]) {
        let entry = self[scalar]
        switch entry.kind {
        case .single: scalars.append(UInt32(bitPattern: Int32(scalar) + entry.difference))
        case .sequence: scalars.append(contentsOf: UnsafeBufferPointer(start: pool + entry.offset, count: entry.count))
        case .space: scalars.append(0x20)
        case .accent: scalars.append(SearchMarks.accent)
        case .nothing: break
        }
    }
}
