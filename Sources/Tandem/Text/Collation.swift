/// The order of texts by the Unicode Collation Algorithm (UTS #10), for a language.
///
/// A *collation key* is a sequence of bytes. The order of keys by `memcmp` is the order of the texts:
///
/// ```swift
/// let collation = Collation(language: .root, isNumeric: false)
/// names.sorted { collation.key(for: $0).lexicographicallyPrecedes(collation.key(for: $1)) }
/// ```
///
/// Keys depend only on the text, the language, `isNumeric` and the tables of this library. Canonically equivalent texts
/// have the same key, and other texts have different keys. No key is a prefix of another. <doc:SortOrder> has the
/// rules.
package struct Collation: Hashable, Sendable {
    /// The language by whose alphabet texts are sorted.
    package let language: SortLanguage
    /// Whether sequences of digits are sorted by their value: "Лента 2" before "Лента 10".
    package let isNumeric: Bool
    let table: CollationTable

    /// The version of the keys. It increases if any key changes.
    package static let version: Int = 1

    package init(language: SortLanguage, isNumeric: Bool) {
        self.language = language
        self.isNumeric = isNumeric
        table = CollationTables.table(for: language)
    }

    package static func == (a: Collation, b: Collation) -> Bool {
        a.language == b.language && a.isNumeric == b.isNumeric
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(language)
        hasher.combine(isNumeric)
    }

    // MARK: - Keys

    /// Returns the collation key of `text`.
    ///
    /// - Complexity: O(*n*), where *n* is the length of `text`; O(*n* log *n*) if all of it is combining marks.
    package func key(for text: String) -> [UInt8] {
        var key: [UInt8] = []
        appendKey(for: text, to: &key)
        return key
    }

    /// Appends the collation key of `text` to `key`.
    package func appendKey(for text: String, to key: inout [UInt8]) {
        var text = text
        text.withUTF8 { appendKey(for: $0, to: &key) }
    }

    /// Appends the collation key of valid UTF-8, which may contain U+0000.
    func appendKey(for utf8: UnsafeBufferPointer<UInt8>, to key: inout [UInt8]) {
        guard utf8.count > 0 else {
            key.append(CollationLevels.endWithoutSecondaries)
            key.append(CollationLevels.endPlain)
            return
        }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: CollationPass.memory) { memory in
            var pass = CollationPass(table: table, isNumeric: isNumeric, input: utf8, memory: memory)
            pass.run()
            pass.finish(&key)
        }
    }

    // MARK: - Sections

    /// Returns the letter of the section to which `text` belongs, in upper case.
    ///
    /// Texts are in the same section if their first letters differ only by accents, case or form: `ё` and `Е` in
    /// Russian, but not `å` and `A` in Swedish. The letter is the first one in the order: `Е`, `A`. Digits, punctuation
    /// and Chinese characters are sections of their own. A text without any, such as an empty one, has an empty letter.
    /// All numbers are in one section if they are sorted by their value.
    package func firstLetter(of text: String) -> String {
        var text = text
        return text.withUTF8 { utf8 in
            guard utf8.count > 0 else { return "" }
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: CollationPass.memory) { memory in
                var pass = CollationPass(table: table, isNumeric: isNumeric, input: utf8, memory: memory)
                pass.run(stopsAtPrimary: true)
                return letter(ofFirstPrimary: pass)
            }
        }
    }

    private func letter(ofFirstPrimary pass: borrowing CollationPass) -> String {
        guard pass.primaries.count > 0 else { return "" }
        let lead = pass.primaries.bytes[0]
        if lead == table.leads[Int(table.numericLead)] { return CollationHeadings.numbers }
        let length = table.lengths[Int(lead)]
        var primary: UInt32 = 0
        for index in 0..<3 {
            primary = primary << 8 | (index < length ? UInt32(pass.primaries.bytes[index]) : 0)
        }
        if lead == table.leads[Int(table.unassignedLead)] {
            return Self.text(of: primary << 8 & 0xFFFF00 | UInt32(pass.primaries.bytes[3]))
        }
        let rank = Int(primary) - Int(table.leads[Int(table.hanLead)]) << 16
        if rank >= 0, rank < HanOrder.shared.count { return Self.text(of: HanOrder.shared.scalar(at: rank)) }
        return CollationHeadings.heading(of: primary, in: language, table: table) ?? ""
    }

    private static func text(of scalar: UInt32) -> String { Unicode.Scalar(scalar).map { String($0) } ?? "" }
}
