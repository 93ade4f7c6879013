import Synchronization

/// The collation tables of all languages, unpacked from the generated literals when first used.
///
/// Unpacking takes a few milliseconds, and a table half a megabyte.
enum CollationTables {
    private static let languages = Mutex<[SortLanguage: CollationTable]>([:])

    static func table(for language: SortLanguage) -> CollationTable {
        languages.withLock { languages in
            if let table = languages[language] { return table }
            var builder = CollationTableBuilder(rootData)
            if let data = data(of: language.rawValue) {
                builder.change(data)
            }
            let table = builder.build()
            languages[language] = table
            return table
        }
    }
}
