extension CollationPass {
    /// Appends the key of the collated text to `key`.
    mutating func finish(_ key: inout [UInt8]) {
        if secondaries.count > 0 {
            primaries.append(CollationLevels.endWithSecondaries)
            primaries.append(secondaries)
            primaries.append(CollationLevels.endOfSecondaries)
        } else {
            primaries.append(CollationLevels.endWithoutSecondaries)
        }
        primaries.append(tertiaries)
        if identity == .plain {
            primaries.append(CollationLevels.endPlain)
        } else {
            appendText()
        }
        key.append(contentsOf: UnsafeBufferPointer(start: primaries.bytes, count: primaries.count))
    }

    /// Appends the identical level of a text that is not the canonical text of its elements.
    private mutating func appendText() {
        let scalars = decomposition()
        let isBelow = identity == .unresolved ? isBelowCanonical(scalars) : identity == .below
        primaries.append(isBelow ? CollationLevels.endBelow : CollationLevels.endAbove)
        for scalar in scalars {
            if scalar == Self.leastScalar {
                primaries.append(CollationLevels.leastScalar)
            } else if let scalar = Unicode.Scalar(scalar), let bytes = Unicode.UTF8.encode(scalar) {
                for byte in bytes {
                    primaries.append(byte + CollationLevels.textOffset)
                }
            }
        }
        primaries.append(CollationLevels.endOfText)
    }

    /// Returns the canonical decomposition of the text.
    private func decomposition() -> [UInt32] {
        var scalars: [UInt32] = []
        var index = 0
        while index < inputCount {
            scalars.append(UTF8Scalars.decode(input, at: &index))
        }
        return FoldingTables.normal.decompose(scalars)
    }

    // MARK: - Comparison with the canonical text

    /// The noncharacter U+FFFE is less than all other scalars in the last level, as in ICU.
    private static var leastScalar: UInt32 { 0xFFFE }

    private static func order(_ scalar: UInt32) -> Int64 { scalar == leastScalar ? -1 : Int64(scalar) }

    /// Returns whether a decomposed text is less than the canonical text of its elements.
    private func isBelowCanonical(_ scalars: [UInt32]) -> Bool {
        var units = CollationUnits(scalars, table: table)
        while let unit = units.next() {
            if isNumeric, unit.entry.isDigit {
                if let result = compareNumber(at: unit.index, scalars: scalars, units: &units) { return result }
                continue
            }
            if unit.entry.isIgnorable {
                return isLess(unit.first, thanNextOf: &units)
            }
            if !unit.isContiguous {
                let canonical = canonicalText(of: unit)
                for (offset, scalar) in canonical.enumerated() where unit.index + offset < scalars.count {
                    let own = Self.order(scalars[unit.index + offset])
                    if own != Self.order(scalar) { return own < Self.order(scalar) }
                }
                return false
            }
            if !unit.entry.isPlain {
                return unit.entry.kind == .pool && unit.entry.has(CollationEntry.Flag.below)
            }
        }
        return false
    }

    /// Returns whether `scalar` is less than the first scalar of the canonical text of the next unit with elements.
    private func isLess(_ scalar: UInt32, thanNextOf units: inout CollationUnits) -> Bool {
        while let unit = units.next() {
            if unit.entry.isIgnorable { continue }
            if isNumeric, unit.entry.isDigit {
                let digits = digits(from: unit, in: &units)
                let first = Self.numbers(digits.map { table.value(of: table[$0]) })[0]
                return Self.order(scalar) < Int64(0x30 + first[first.startIndex])
            }
            return Self.order(scalar) < Self.order(canonicalText(of: unit)[0])
        }
        return false
    }

    /// Returns whether a number is less than its canonical digits, or `nil` if it consists of them.
    private func compareNumber(
        at start: Int, scalars: [UInt32], units: inout CollationUnits
    ) -> Bool? {
        var own: [UInt32] = [scalars[start]]
        var following = units
        while let unit = following.next(), unit.entry.isDigit {
            own.append(unit.first)
            units = following
        }
        let canonical = Self.numbers(own.map { table.value(of: table[$0]) }).joined().map { UInt32($0) + 0x30 }
        for (scalar, digit) in zip(own, canonical) where scalar != digit {
            return scalar < digit
        }
        return own.count > canonical.count ? isLess(own[canonical.count], thanNextOf: &units) : nil
    }

    /// Returns the digits from `unit` on.
    private func digits(from unit: CollationUnits.Unit, in units: inout CollationUnits) -> [UInt32] {
        var digits = [unit.first]
        while let next = units.next(), next.entry.isDigit {
            digits.append(next.first)
        }
        return digits
    }

    /// Returns the first scalars of the canonical text of a unit: the plain unit with the same first element.
    private func canonicalText(of unit: CollationUnits.Unit) -> [UInt32] {
        if unit.entry.isPlain {
            return unit.contraction.map { Array(table.scalars(of: table.contractions[$0])) } ?? [unit.first]
        }
        guard let element = table.firstElement(of: unit.entry) else { return [unit.first] }
        return table.plainText(startingWith: element)
    }
}

extension CollationEntry {
    var isIgnorable: Bool { kind == .pool && count == 0 }
}

extension CollationTable {
    /// Returns the first element of an entry, or `nil` if it is implicit or has none.
    func firstElement(of entry: CollationEntry) -> CollationElement? {
        switch entry.kind {
        case .implicit: nil
        case .single:
            CollationElement(
                primary: entry.primary << 8, length: entry.has(CollationEntry.Flag.twoBytes) ? 2 : 1, secondary: 0,
                tertiary: entry.tertiary)
        case .pool: elements(of: entry).first
        case .rare: CollationElement(primary: entry.rarePrimary, length: 3, secondary: 0, tertiary: commonTertiary)
        }
    }

    /// Returns the canonical text of an element, by a search in the whole table.
    ///
    /// Only a text that begins to differ from its canonical text at an ignored scalar needs it. The scalar is followed
    /// by a compatibility character.
    func plainText(startingWith element: CollationElement) -> [UInt32] {
        let rank = Int(element.primary) - Int(hanLead) << 16
        if element.length == 3, element.secondary == 0, element.tertiary == commonTertiary, rank >= 0,
            rank < HanOrder.shared.count
        {
            return [HanOrder.shared.scalar(at: rank)]
        }
        for contraction in contractions where contraction.entry.isPlain {
            if firstElement(of: contraction.entry) == element { return Array(scalars(of: contraction)) }
        }
        for scalar in UInt32(0)..<0x2_0000 {
            let entry = self[scalar]
            if entry.kind != .implicit, entry.isPlain, firstElement(of: entry) == element,
                FoldingTables.normal[scalar].decompositionCount == 0
            {
                return [scalar]
            }
        }
        // No text has this element first. The generator assumes a scalar beyond all others.
        return [0x11_0000]
    }
}
