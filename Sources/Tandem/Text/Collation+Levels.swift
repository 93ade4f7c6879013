// The levels of a collation key, for comparisons that ignore some of them.

extension Collation {
    /// The byte at the end of each level of a key. The weights of a level do not contain it.
    static let levelEnd: UInt8 = 0

    /// The levels to compare.
    enum Strength {
        /// The first level: letters, without accents and case.
        case letters
        /// The first two levels: letters and accents, without case.
        case accents
    }

    /// Returns the first bytes of the key of `text`.
    ///
    /// - Parameter strength: For ``Strength/letters``, the weights of the first level: the keys of texts whose letters
    ///   begin with the letters of `text` begin with these bytes. For ``Strength/accents``, the first two levels with
    ///   their ends: the keys of texts that are equal on both levels, and no other keys, begin with these bytes.
    func keyPrefix(for text: String, _ strength: Strength) -> [UInt8] {
        var key = key(for: text)
        guard let letters = key.firstIndex(of: Self.levelEnd) else { return key }
        switch strength {
        case .letters: key.removeSubrange(letters...)
        case .accents:
            guard let accents = key[(letters + 1)...].firstIndex(of: Self.levelEnd) else { return key }
            key.removeSubrange((accents + 1)...)
        }
        return key
    }

    /// Returns the least bytes after all keys that begin with `prefix`, or `nil` if there are none.
    static func upperBound(ofPrefix prefix: [UInt8]) -> [UInt8]? {
        var bound = prefix
        while let last = bound.popLast() {
            guard last < 0xFF else { continue }
            bound.append(last + 1)
            return bound
        }
        return nil
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
