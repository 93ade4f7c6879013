import Synchronization

/// The letters that head sections, by primary weight.
enum CollationHeadings {
    private static let all = Mutex<[SortLanguage: [UInt32: String]]>([:])

    /// The heading of numbers, if they are sorted by their value.
    static let numbers = "0–9"

    /// Returns the letter of a primary weight, or `nil` if it has none.
    static func heading(of primary: UInt32, in language: SortLanguage, table: CollationTable) -> String? {
        all.withLock { all in
            if let headings = all[language] { return headings[primary] }
            let headings = make(table)
            all[language] = headings
            return headings[primary]
        }
    }

    private static func make(_ table: CollationTable) -> [UInt32: String] {
        var headings: [UInt32: String] = [:]
        func add(_ entry: CollationEntry, scalars: some Sequence<UInt32>) {
            guard entry.kind != .implicit, entry.isHeading, let element = table.firstElement(of: entry) else { return }
            let composed = FoldingTables.normal.compose(Array(scalars)).compactMap { Unicode.Scalar($0) }
            headings[table.key(ofPrimary: element)] = String(String.UnicodeScalarView(composed))
        }
        for scalar in UInt32(0)..<0x2_0000 {
            add(table[scalar], scalars: CollectionOfOne(scalar))
        }
        for contraction in table.contractions {
            add(contraction.entry, scalars: table.scalars(of: contraction))
        }
        return headings
    }
}

extension CollationTable {
    /// Returns the primary weight as in a key: three bytes, with the language's lead.
    func key(ofPrimary element: CollationElement) -> UInt32 {
        UInt32(leads[Int(element.primary >> 16)]) << 16 | element.primary & 0xFFFF
    }
}
