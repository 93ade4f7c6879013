/// A builder of collation tables: the root's table, and the changes of a language.
struct CollationTableBuilder: Sendable {
    private let weights: CollationWeights
    private var pages: [[UInt32]] = [Array(repeating: 0, count: CollationTable.pageSize)]
    /// The number of the page of each 128 scalars. Zero is the empty page.
    private var pageNumbers = Array(repeating: 0, count: CollationTable.pageCount)
    private var pool: [CollationElement] = []
    private var contractions: [[UInt32]: CollationEntry] = [:]
    private var groupOrder = Array(0..<CollationWeights.groupCount)
    private var isUpperCaseFirst = false

    /// Reads the root.
    init(_ literal: StaticString) {
        var reader = TableReader(literal)
        weights = CollationWeights(&reader)
        readEntries(&reader)
        assert(reader.isAtEnd)
    }

    /// Reads the changes of a language.
    mutating func change(_ literal: StaticString) {
        var reader = TableReader(literal)
        isUpperCaseFirst = reader.number() == 1
        for index in groupOrder.indices {
            groupOrder[index] = reader.number()
        }
        readEntries(&reader)
        for _ in 0..<reader.number() {
            let first = UInt32(reader.number())
            contractions[[first, UInt32(reader.number())]] = nil
        }
        assert(reader.isAtEnd)
    }

    // MARK: - Entries

    private mutating func readEntries(_ reader: inout TableReader) {
        readSingles(&reader)
        var last = 0
        var position = 0
        while true {
            position += reader.number()
            if position == 0x110000 { break }
            let count = reader.number()
            let flags = UInt32(reader.number()) << 2
            switch count {
            case 30: set(flags, of: UInt32(position))
            case 31: set(flags | CollationEntry.Flag.decomposes, of: UInt32(position))
            default:
                let entry = readPool(&reader, count: count, flags: flags, last: &last)
                set(entry, of: UInt32(position))
            }
        }
        position = 0
        for _ in 0..<reader.number() {
            var scalars: [UInt32] = []
            for _ in 0..<reader.number() {
                position += reader.signed()
                scalars.append(UInt32(position))
            }
            let count = reader.number()
            let flags = UInt32(reader.number()) << 2
            contractions[scalars] = CollationEntry(
                rawValue: readPool(&reader, count: count, flags: flags, last: &last))
        }
    }

    private mutating func readSingles(_ reader: inout TableReader) {
        var position = 0
        var rank = 0
        while true {
            position += reader.signed()
            let countAndStride = reader.number()
            if countAndStride == 0 { return }
            let count = countAndStride >> 1
            let stride = 1 + (countAndStride & 1)
            rank += reader.signed()
            let step = count > 1 ? reader.signed() : 0
            let tertiary = reader.number()
            let flags = UInt32(reader.number()) << 2
            for index in 0..<count {
                let entry = single(rank: rank, tertiary: tertiary, flags: flags)
                set(entry, of: UInt32(position))
                if index < count - 1 {
                    position += stride
                    rank += step
                }
            }
            position += 1
        }
    }

    private mutating func single(rank: Int, tertiary: Int, flags: UInt32) -> UInt32 {
        let primary = weights.primaries[rank]
        let length = primary >> 24
        let value = primary & 0xFF_FFFF
        if length < 3 {
            let twoBytes = length == 2 ? CollationEntry.Flag.twoBytes : 0
            return CollationEntry.Kind.single.rawValue | flags | twoBytes | UInt32(tertiary) << 10 | (value >> 8) << 16
        }
        let plain = CollationEntry.Flag.plain
        let isHeading = flags & CollationEntry.Flag.heading != 0
        if weights.tertiaries[tertiary] == Self.common, flags & ~(plain | CollationEntry.Flag.heading) == 0,
            isHeading == (flags & plain != 0)
        {
            return CollationEntry.Kind.rare.rawValue | flags & plain | value << 8
        }
        let offset = pool.count
        pool.append(CollationElement(primary: value, length: 3, secondary: 0, tertiary: tertiary))
        return Self.pool(offset: offset, count: 1, flags: flags)
    }

    private mutating func readPool(_ reader: inout TableReader, count: Int, flags: UInt32, last: inout Int) -> UInt32 {
        let offset = pool.count
        for _ in 0..<count {
            let secondary = reader.number()
            let tertiary = reader.number()
            var primary: UInt32 = 0
            if secondary & 1 == 1 {
                let rank = last + reader.signed()
                if rank >= weights.primaries.count {
                    primary = 3 << 24 | UInt32(weights.hanLead) << 16 + UInt32(rank - weights.primaries.count)
                } else {
                    primary = weights.primaries[rank]
                    last = rank
                }
            }
            pool.append(
                CollationElement(
                    primary: primary & 0xFF_FFFF, length: Int(primary >> 24), secondary: secondary >> 1,
                    tertiary: tertiary))
        }
        return Self.pool(offset: offset, count: count, flags: flags)
    }

    private static func pool(offset: Int, count: Int, flags: UInt32) -> UInt32 {
        CollationEntry.Kind.pool.rawValue | flags | UInt32(count) << 10 | UInt32(offset) << 15
    }

    private mutating func set(_ entry: UInt32, of scalar: UInt32) {
        let slot = Int(scalar >> CollationTable.pageBits)
        if pageNumbers[slot] == 0 {
            pageNumbers[slot] = pages.count
            pages.append(pages[0])
        }
        pages[pageNumbers[slot]][Int(scalar) & (CollationTable.pageSize - 1)] = entry
    }

    // MARK: - The table

    /// ICU's common weight of the third level.
    private static let common = 0x0500
    /// ICU's weight of upper case, as in `A`.
    private static let upper = 0x9C00

    func build() -> CollationTable {
        let entries = immortalCopy(of: Array(pages.joined()))
        let sorted = contractions.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        let tertiaries = tertiaryBytes()
        let upper = weights.tertiaries.firstIndex(of: Self.upper).map { tertiaries[$0] } ?? 0
        let upperTertiary = upper >= CollationLevels.firstHigh ? upper : 0
        var scalars: [UInt32] = []
        var list: [CollationTable.Contraction] = []
        for (key, entry) in sorted {
            list.append(CollationTable.Contraction(offset: scalars.count, count: key.count, entry: entry))
            scalars += key
        }
        return CollationTable(
            pages: immortalCopy(of: pageNumbers.map { entries + $0 * CollationTable.pageSize }),
            pool: immortalCopy(of: pool),
            contractions: UnsafeBufferPointer(start: immortalCopy(of: list), count: list.count),
            contractionScalars: immortalCopy(of: scalars),
            leads: immortalCopy(of: weights.leads(ordering: groupOrder)),
            tertiaries: immortalCopy(of: tertiaries), digits: immortalCopy(of: digits()),
            lengths: immortalCopy(of: lengths()), upperTertiary: upperTertiary,
            commonTertiary: weights.tertiaries.firstIndex(of: Self.common) ?? 0,
            numericLead: weights.numericLead, hanLead: weights.hanLead, unassignedLead: weights.unassignedLead)
    }

    /// Returns the value of a digit for each lead of a primary weight.
    private func digits() -> [UInt8] {
        var digits = [UInt8](repeating: 0, count: 256)
        for value in UInt8(0)...9 {
            let entry = CollationEntry(rawValue: pages[pageNumbers[0]][0x30 + Int(value)])
            digits[Int(entry.primary >> 8)] = value
        }
        return digits
    }

    /// Returns the number of bytes of a primary weight for each lead of this language.
    private func lengths() -> [UInt8] {
        let leads = weights.leads(ordering: groupOrder)
        var lengths = [UInt8](repeating: 3, count: 256)
        for primary in weights.primaries where primary > 0 {
            lengths[Int(leads[Int(primary >> 16 & 0xFF)])] = UInt8(primary >> 24)
        }
        return lengths
    }

    /// Returns the byte of each tertiary weight in this language.
    private func tertiaryBytes() -> [UInt8] {
        let keys = weights.tertiaries.map { isUpperCaseFirst ? $0 ^ 0xC000 : $0 & 0x3F3F }
        let common = isUpperCaseFirst ? Self.common ^ 0xC000 : Self.common
        let order = Set(keys).sorted()
        let middle = order.firstIndex(of: common) ?? 0
        return keys.map { key in
            guard let index = order.firstIndex(of: key), index != middle else { return CollationLevels.common }
            return index < middle
                ? CollationLevels.firstLow + UInt8(index) : CollationLevels.firstHigh + UInt8(index - middle - 1)
        }
    }
}
