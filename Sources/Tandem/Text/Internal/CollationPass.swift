/// A pass over a text that writes its collation key.
///
/// Nearly every scalar has elements of its own, which the table states. A scalar that may form a contraction with its
/// successor starts a *segment*: see `appendSegment`. So does a mark that may have to be reordered. Only segments and
/// long texts allocate memory.
struct CollationPass: ~Copyable {
    let table: CollationTable
    let isNumeric: Bool
    let input: UnsafePointer<UInt8>
    let inputCount: Int

    var primaries: KeyBuffer
    var secondaries: KeyBuffer
    var tertiaries: KeyBuffer
    /// The lengths of the current runs of common weights.
    private var commonSecondaries = 0
    private var commonTertiaries = 0
    var identity = Identity.plain

    /// The comparison of the text with the canonical text of its elements.
    enum Identity {
        case plain
        case below
        case above
        /// Known only after another pass.
        case unresolved
    }

    /// The bytes of memory for all buffers of a pass.
    static let memory = 1024

    /// - Precondition: `memory` has the size of ``memory``, and `input` is not empty.
    init(
        table: CollationTable, isNumeric: Bool, input: UnsafeBufferPointer<UInt8>,
        memory: UnsafeMutableBufferPointer<UInt8>
    ) {
        self.table = table
        self.isNumeric = isNumeric
        self.input = input.baseAddress!
        inputCount = input.count
        primaries = KeyBuffer(.init(rebasing: memory[0..<512]))
        secondaries = KeyBuffer(.init(rebasing: memory[512..<768]))
        tertiaries = KeyBuffer(.init(rebasing: memory[768..<1024]))
    }

    // MARK: - Scalars

    /// Collates the text.
    ///
    /// - Parameter stopsAtPrimary: Whether to end after the first primary weight.
    @inline(__always)
    mutating func run(stopsAtPrimary: Bool = false) {
        var next = 0
        var scalar: UInt32 = 0
        var entry = CollationEntry(rawValue: 0)
        if inputCount > 0 { entry = read(at: &next, scalar: &scalar) }
        var index = 0
        while index < inputCount {
            if stopsAtPrimary, primaries.count > 0 { return }
            let current = scalar
            let currentEntry = entry
            let start = index
            index = next
            entry = next < inputCount ? read(at: &next, scalar: &scalar) : CollationEntry(rawValue: 0)
            if isNumeric, currentEntry.isDigit {
                index = appendNumber(at: start)
            } else if interacts(currentEntry, with: entry) {
                index = appendSegment(at: start)
            } else {
                append(current, entry: currentEntry)
                continue
            }
            next = index
            if index < inputCount { entry = read(at: &next, scalar: &scalar) }
        }
    }

    /// Returns whether two scalars must be collated together. A digit belongs to its number instead.
    @inline(__always)
    func interacts(_ entry: CollationEntry, with next: CollationEntry) -> Bool {
        entry.interacts(with: next) && !(isNumeric && next.isDigit)
    }

    @inline(__always)
    private func read(at index: inout Int, scalar: inout UInt32) -> CollationEntry {
        scalar = UTF8Scalars.decode(input, at: &index)
        return table[scalar]
    }

    /// Appends the elements of a scalar.
    @inline(__always)
    mutating func append(_ scalar: UInt32, entry: CollationEntry) {
        switch entry.kind {
        case .single: appendSingle(entry)
        case .rare: appendRare(entry)
        case .pool: append(elementsOf: entry)
        case .implicit: appendImplicit(scalar, entry: entry)
        }
    }

    @inline(__always)
    private mutating func appendSingle(_ entry: CollationEntry) {
        let length = entry.has(CollationEntry.Flag.twoBytes) ? 2 : 1
        appendPrimary(entry.primary << 8, length: length)
        commonSecondaries += 1
        appendTertiary(entry.tertiary)
        if entry.rawValue & CollationEntry.Flag.plain == 0 { note(.above) }
    }

    @inline(__always)
    private mutating func appendRare(_ entry: CollationEntry) {
        appendPrimary(entry.rarePrimary, length: 3)
        commonSecondaries += 1
        commonTertiaries += 1
        if !entry.isPlain { note(.above) }
    }

    /// Appends the elements in the pool.
    mutating func append(elementsOf entry: CollationEntry) {
        if entry.count == 0 {
            note(.unresolved)
            return
        }
        for element in table.elements(of: entry) {
            if element.length > 0 { appendPrimary(element.primary, length: element.length) }
            appendSecondary(element.secondary)
            appendTertiary(element.tertiary)
        }
        if !entry.isPlain { note(entry.has(CollationEntry.Flag.below) ? .below : .above) }
    }

    private mutating func appendImplicit(_ scalar: UInt32, entry: CollationEntry) {
        if Hangul.syllables.contains(scalar) {
            let (initial, vowel, final) = Hangul.jamo(of: scalar)
            appendJamo(initial)
            appendJamo(vowel)
            if let final { appendJamo(final) }
            return
        }
        let scalar =
            entry.has(CollationEntry.Flag.decomposes) ? FoldingTables.normal.decompose([scalar])[0] : scalar
        commonSecondaries += 1
        commonTertiaries += 1
        if let rank = HanOrder.shared.rank(of: scalar) {
            appendPrimary(UInt32(table.hanLead) << 16 + rank, length: 3)
        } else {
            primaries.append(table.leads[Int(table.unassignedLead)])
            primaries.append(scalar, length: 3)
        }
    }

    private mutating func appendJamo(_ scalar: UInt32) { append(scalar, entry: table[scalar]) }

    /// Remembers the first unit that differs from the canonical text.
    mutating func note(_ identity: Identity) {
        if self.identity == .plain { self.identity = identity }
    }

    // MARK: - Weights

    @inline(__always)
    private mutating func appendPrimary(_ primary: UInt32, length: Int) {
        let lead = UInt32(table.leads[Int(primary >> 16)])
        primaries.append(lead << 16 | primary & 0xFFFF, length: length)
    }

    @inline(__always)
    private mutating func appendSecondary(_ number: Int) {
        if number == 0 {
            commonSecondaries += 1
            return
        }
        while commonSecondaries > 0 {
            let run = min(commonSecondaries, CollationLevels.longestSecondaryRun)
            secondaries.append(CollationLevels.secondaryRun - UInt8(run))
            commonSecondaries -= run
        }
        let index = number - 1
        if index < CollationLevels.shortSecondaries {
            secondaries.append(CollationLevels.firstSecondary + UInt8(index))
        } else {
            let rest = index - CollationLevels.shortSecondaries
            secondaries.append(
                CollationLevels.firstSecondary + UInt8(CollationLevels.shortSecondaries + rest >> 8))
            secondaries.append(UInt8(rest & 0xFF))
        }
    }

    @inline(__always)
    private mutating func appendTertiary(_ number: Int) {
        let byte = table.tertiaries[number]
        if byte == CollationLevels.common {
            commonTertiaries += 1
            return
        }
        if commonTertiaries > 0 {
            if byte >= CollationLevels.firstHigh {
                appendHighRun(before: byte)
                return
            }
            while commonTertiaries > 0 {
                let run = min(commonTertiaries, CollationLevels.longestLowRun)
                tertiaries.append(CollationLevels.lowRun + UInt8(run))
                commonTertiaries -= run
            }
        }
        tertiaries.append(byte)
    }

    /// Appends a run of common weights and a greater weight.
    private mutating func appendHighRun(before byte: UInt8) {
        while commonTertiaries > CollationLevels.longestHighRun {
            tertiaries.append(CollationLevels.endlessHighRun)
            commonTertiaries -= CollationLevels.longestHighRun
        }
        let run = CollationLevels.highRun - 3 * UInt8(commonTertiaries)
        commonTertiaries = 0
        if byte == table.upperTertiary {
            tertiaries.append(run + 1)
        } else {
            tertiaries.append(byte < table.upperTertiary ? run : run + 2)
            tertiaries.append(byte)
        }
    }

    // MARK: - Numbers

    /// Appends the value of the digits at `start`, and returns the index after them.
    private mutating func appendNumber(at start: Int) -> Int {
        var digits: [UInt8] = []
        var index = start
        var isPlain = true
        while index < inputCount {
            var next = index
            let scalar = UTF8Scalars.decode(input, at: &next)
            let entry = table[scalar]
            guard entry.isDigit else { break }
            digits.append(table.value(of: entry))
            isPlain = isPlain && scalar < 0x80
            index = next
        }
        appendNumber(digits, isPlain: isPlain)
        return index
    }

    /// Appends numbers of at most 254 digits each, as in ICU.
    private mutating func appendNumber(_ digits: [UInt8], isPlain: Bool) {
        var canonicalCount = 0
        for number in Self.numbers(digits) {
            canonicalCount += number.count
            primaries.append(table.leads[Int(table.numericLead)])
            primaries.append(UInt8(number.count))
            var index = number.startIndex
            while index < number.endIndex {
                let low = index + 1 < number.endIndex ? number[index + 1] : 0
                primaries.append(number[index] << 4 | low)
                index += 2
            }
            commonSecondaries += 1
            commonTertiaries += 1
        }
        if !isPlain || canonicalCount < digits.count { note(.unresolved) }
    }

    /// Returns the digits of the numbers: without leading zeros, and at most 254 digits each.
    static func numbers(_ digits: [UInt8]) -> [ArraySlice<UInt8>] {
        var numbers: [ArraySlice<UInt8>] = []
        var index = 0
        while index < digits.count {
            while index < digits.count - 1, digits[index] == 0 { index += 1 }
            let end = min(index + 254, digits.count)
            numbers.append(digits[index..<end])
            index = end
        }
        return numbers
    }
}

extension CollationTable {
    /// Returns the value of a digit.
    func value(of entry: CollationEntry) -> UInt8 {
        let lead = entry.kind == .single ? entry.primary >> 8 : elements(of: entry)[0].primary >> 16
        return digits[Int(lead)]
    }
}
