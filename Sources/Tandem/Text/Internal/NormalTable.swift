/// Canonical decomposition, combining classes, composition, and the role of marks in search keys.
struct NormalTable: @unchecked Sendable {
    // Proof of `@unchecked Sendable`: the pointers are to memory that is never freed, and never written after `init`.
    private let properties: ScalarTable
    private let pool: UnsafePointer<UInt32>
    /// The composing pairs in order, with both scalars in a single number, and the composite of each pair.
    private let pairs: UnsafePointer<UInt64>
    private let composites: UnsafePointer<UInt32>
    private let pairCount: Int

    /// The properties of a scalar: combining class, flags, and the offset of its decomposition.
    struct Properties {
        let rawValue: Int32
        var combiningClass: UInt8 { UInt8(truncatingIfNeeded: rawValue) }
        /// Whether it is a mark that search keys drop if its base is a letter of an alphabet.
        var isFallingMark: Bool { rawValue & 1 << 8 != 0 }
        /// Whether it is a letter of an alphabet whose marks are dropped.
        var isBase: Bool { rawValue & 1 << 9 != 0 }
        /// Whether it composes with some scalar before it.
        var composesWithPrevious: Bool { rawValue & 1 << 10 != 0 }
        var decompositionCount: Int { Int(rawValue >> 11) & 7 }
        var decompositionOffset: Int { Int(rawValue >> 14) }
    }

    init(_ literal: StaticString) {
        var reader = TableReader(literal)
        var builder = ScalarTable.Builder()
        var pool: [UInt32] = []
        reader.runs { scalar, value in
            builder.update(scalar) { $0 = Int32(value) }
        }
        reader.sequences(into: &pool) { scalar, offset, count in
            builder.update(scalar) { $0 |= Int32(offset << 14 | count << 11) }
        }
        var pairs: [UInt64] = []
        var composites: [UInt32] = []
        var first = 0
        while true {
            first += reader.number()
            let second = reader.number()
            if second == 0 { break }
            pairs.append(UInt64(first) << 32 | UInt64(second))
            composites.append(UInt32(first + reader.signed()))
        }
        assert(reader.isAtEnd)
        properties = builder.build()
        self.pool = immortalCopy(of: pool)
        self.pairs = immortalCopy(of: pairs)
        self.composites = immortalCopy(of: composites)
        pairCount = pairs.count
    }

    subscript(scalar: UInt32) -> Properties { Properties(rawValue: properties[scalar]) }

    // MARK: - Forms

    /// Returns the canonical decomposition (NFD).
    func decompose(_ scalars: [UInt32]) -> [UInt32] {
        var result: [UInt32] = []
        result.reserveCapacity(scalars.count * 2)
        for scalar in scalars {
            let properties = self[scalar]
            if properties.decompositionCount > 0 {
                let start = pool + properties.decompositionOffset
                result.append(contentsOf: UnsafeBufferPointer(start: start, count: properties.decompositionCount))
            } else if Hangul.syllables.contains(scalar) {
                let (initial, vowel, final) = Hangul.jamo(of: scalar)
                result.append(initial)
                result.append(vowel)
                if let final { result.append(final) }
            } else {
                result.append(scalar)
            }
        }
        reorder(&result)
        return result
    }

    /// Returns the canonical decomposition followed by canonical composition (NFC).
    func compose(_ scalars: [UInt32]) -> [UInt32] {
        var result = decompose(scalars)
        var end = 0
        var starter = -1
        var lastClass: UInt8 = 0
        for index in result.indices {
            let scalar = result[index]
            let properties = self[scalar]
            let combiningClass = properties.combiningClass
            if starter >= 0, properties.composesWithPrevious,
                lastClass < combiningClass || (lastClass == 0 && end == starter + 1),
                let composite = composite(of: result[starter], and: scalar)
            {
                result[starter] = composite
                continue
            }
            if combiningClass == 0 { starter = end }
            lastClass = combiningClass
            result[end] = scalar
            end += 1
        }
        result.removeSubrange(end...)
        return result
    }

    /// Sorts each run of marks by combining class. Marks with equal classes keep their order.
    private func reorder(_ scalars: inout [UInt32]) {
        var start = 0
        while start < scalars.count {
            var end = start
            var last: UInt8 = 0
            var isOrdered = true
            while end < scalars.count {
                let combiningClass = self[scalars[end]].combiningClass
                if combiningClass == 0 { break }
                if combiningClass < last { isOrdered = false }
                last = combiningClass
                end += 1
            }
            if !isOrdered {
                // Sort by class, then position. An insertion sort would take minutes for a run of 100,000 marks from a
                // hostile server.
                let keys = (start..<end).map { UInt64(self[scalars[$0]].combiningClass) << 32 | UInt64($0 - start) }
                let run = Array(scalars[start..<end])
                for (place, key) in keys.sorted().enumerated() {
                    scalars[start + place] = run[Int(key & 0xFFFF_FFFF)]
                }
            }
            start = end + 1
        }
    }

    private func composite(of first: UInt32, and second: UInt32) -> UInt32? {
        if let syllable = Hangul.syllable(of: first, and: second) { return syllable }
        let key = UInt64(first) << 32 | UInt64(second)
        let index = (0..<pairCount).endOfPrefix { pairs[$0] < key }
        return index < pairCount && pairs[index] == key ? composites[index] : nil
    }
}

/// Arithmetic for Korean syllables. Unicode has no table of the 11,172 compositions.
enum Hangul {
    static let syllables: ClosedRange<UInt32> = 0xAC00...0xD7A3

    /// Returns the letters of a syllable.
    @inline(__always)
    static func jamo(of syllable: UInt32) -> (initial: UInt32, vowel: UInt32, final: UInt32?) {
        let index = syllable - 0xAC00
        return (0x1100 + index / 588, 0x1161 + index % 588 / 28, index % 28 > 0 ? 0x11A7 + index % 28 : nil)
    }

    static func syllable(of first: UInt32, and second: UInt32) -> UInt32? {
        if 0x1100...0x1112 ~= first, 0x1161...0x1175 ~= second {
            return 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
        }
        if syllables ~= first, (first - 0xAC00) % 28 == 0, 0x11A8...0x11C2 ~= second {
            return first + second - 0x11A7
        }
        return nil
    }
}
