// The ranges of sort keys of texts that are alike on the first level, for comparisons and sections.

extension Collation {
    /// Returns the range of the keys of texts with the same letters as `text`, whatever their accents, case and form.
    func range(ofLetters text: String) -> KeyRange {
        let letters = letters(of: text)
        return KeyRange(
            lower: letters + [CollationLevels.endWithoutSecondaries],
            upper: letters + [CollationLevels.endWithSecondaries + 1])
    }

    /// Returns a range that contains the keys of all texts that begin with `prefix`, whatever their accents, case and
    /// form.
    ///
    /// The last letters of the prefix may belong to a contraction that the text continues. For example, `c` may belong
    /// to Czech `ch`. In a numeric order, the last digits of the prefix may belong to a longer number. Such letters and
    /// digits are left out.
    func range(ofPrefix prefix: String) -> KeyRange {
        var scalars = String.UnicodeScalarView(prefix.unicodeScalars)
        while let last = scalars.last {
            let entry = table[last.value]
            guard entry.has(CollationEntry.Flag.starts) || isNumeric && entry.isDigit else { break }
            scalars.removeLast()
        }
        return KeyRange(prefix: letters(of: String(scalars)))
    }

    /// Returns the range of the keys of texts in the section of a letter.
    ///
    /// Returns `nil` if these texts have no common range.
    func range(ofSection letter: String) -> KeyRange? {
        // Texts without letters, numbers and punctuation have an empty letter.
        guard !letter.isEmpty, firstLetter(of: letter) == letter else { return nil }
        return KeyRange(prefix: letters(of: letter, isFirst: true))
    }

    /// Returns the weights of the first level of a key, or only the first of them.
    private func letters(of text: String, isFirst: Bool = false) -> [UInt8] {
        var text = text
        return text.withUTF8 { utf8 in
            guard utf8.count > 0 else { return [] }
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: CollationPass.memory) { memory in
                var pass = CollationPass(table: table, isNumeric: isNumeric, input: utf8, memory: memory)
                pass.run(stopsAtPrimary: isFirst)
                return pass.letters(isFirst: isFirst)
            }
        }
    }
}

extension CollationPass {
    fileprivate func letters(isFirst: Bool) -> [UInt8] {
        let letters = UnsafeBufferPointer(start: primaries.bytes, count: primaries.count)
        guard isFirst, let lead = letters.first else { return Array(letters) }
        return Array(letters.prefix(length(ofPrimaryWithLead: lead)))
    }

    /// The code point of an unassigned scalar follows its lead. All numbers have the same lead.
    private func length(ofPrimaryWithLead lead: UInt8) -> Int {
        if lead == table.leads[Int(table.unassignedLead)] { return 4 }
        return isNumeric && lead == table.leads[Int(table.numericLead)] ? 1 : Int(table.lengths[Int(lead)])
    }
}

// MARK: Arguments of SQL functions

extension Collation {
    /// The collation as an argument of an SQL function: `sv` or `sv+numeric`.
    var argument: String { language.rawValue + (isNumeric ? Self.numericSuffix : "") }

    /// Creates the collation from ``argument``.
    init?(argument: some StringProtocol) {
        let isNumeric = argument.hasSuffix(Self.numericSuffix)
        let code = isNumeric ? String(argument.dropLast(Self.numericSuffix.count)) : String(argument)
        guard let language = SortLanguage(rawValue: code) else { return nil }
        self.init(language: language, isNumeric: isNumeric)
    }

    private static let numericSuffix = "+numeric"
}
