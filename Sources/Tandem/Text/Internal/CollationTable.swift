/// The collation table of a language.
struct CollationTable: @unchecked Sendable {
    // Proof of `@unchecked Sendable`: the pointers are to memory that is never freed, and never written after the
    // builder made the table.

    /// Pages of 128 entries. The empty page is shared by all scalars without an entry.
    let pages: UnsafePointer<UnsafePointer<UInt32>>
    let pool: UnsafePointer<CollationElement>
    /// Contractions, in the order of their scalars.
    let contractions: UnsafeBufferPointer<Contraction>
    /// The scalars of the contractions.
    let contractionScalars: UnsafePointer<UInt32>
    /// The lead of each lead: languages reorder scripts.
    let leads: UnsafePointer<UInt8>
    /// The byte of each tertiary weight, see ``CollationLevels``. Zero is the common weight.
    let tertiaries: UnsafePointer<UInt8>
    /// The value of a digit, by the lead of its primary weight.
    let digits: UnsafePointer<UInt8>
    /// The number of bytes of a primary weight, by its lead in this language. The leads of numbers are not among them.
    let lengths: UnsafePointer<UInt8>
    /// The byte of the tertiary weight of upper case. Zero if upper case is first.
    let upperTertiary: UInt8
    /// The number of the common tertiary weight.
    let commonTertiary: Int
    let numericLead: UInt8
    let hanLead: UInt8
    let unassignedLead: UInt8

    static let pageBits: UInt32 = 7
    static let pageSize = 1 << 7
    static let pageCount = 0x110000 >> 7

    /// A sequence of scalars with elements of its own.
    struct Contraction {
        let offset: Int
        let count: Int
        let entry: CollationEntry
    }

    /// - Precondition: `scalar` is below 0x110000. Callers pass scalars decoded from valid UTF-8.
    @inline(__always)
    subscript(scalar: UInt32) -> CollationEntry {
        CollationEntry(
            rawValue: pages[Int(scalar >> Self.pageBits)][Int(scalar) & (Self.pageSize - 1)])
    }

    func elements(of entry: CollationEntry) -> UnsafeBufferPointer<CollationElement> {
        UnsafeBufferPointer(start: pool + entry.offset, count: entry.count)
    }

    func scalars(of contraction: Contraction) -> UnsafeBufferPointer<UInt32> {
        UnsafeBufferPointer(start: contractionScalars + contraction.offset, count: contraction.count)
    }

    /// Returns the range of the contractions that begin with `scalar`.
    func contractions(startingWith scalar: UInt32) -> Range<Int> {
        let start = contractions.indices.endOfPrefix { contractionScalars[contractions[$0].offset] < scalar }
        var end = start
        while end < contractions.count, contractionScalars[contractions[end].offset] == scalar { end += 1 }
        return start..<end
    }
}
