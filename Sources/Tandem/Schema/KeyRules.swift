/// The rules by which a store's folded keys were computed. The store's settings have them.
struct KeyRules: Equatable {
    /// The version of ``Folding``.
    var folding: Int
    /// The version of ``Collation``, or `nil` in a format before 4, whose sort keys are texts.
    var collation: Int?
    /// The raw value of the ``SortLanguage``. A later version of Tandem may have more languages.
    var language: String?
    var sortsNumbers: Bool?

    /// Creates the rules for the keys of this version of Tandem.
    init(_ collation: Collation) {
        folding = Folding.version
        self.collation = Collation.version
        language = collation.language.rawValue
        sortsNumbers = collation.isNumeric
    }

    /// Creates the rules from a store's settings. Missing settings differ from those of any sort order.
    ///
    /// - Parameters:
    ///   - folding: The version of the folding rules.
    ///   - connection: A connection to the store.
    init(folding: Int, settingsOf connection: Connection) throws {
        self.folding = folding
        if case .integer(let version)? = try connection.setting(Self.collationKey) { collation = Int(version) }
        if case .text(let code)? = try connection.setting(Self.languageKey) { language = code }
        if case .integer(let flag)? = try connection.setting(Self.numbersKey) { sortsNumbers = flag != 0 }
    }

    /// The settings, by their keys.
    var settings: [(String, StorageValue)] {
        [
            ("foldingVersion", .integer(Int64(folding))),
            (Self.collationKey, collation.map { .integer(Int64($0)) } ?? .null),
            (Self.languageKey, language.map { .text($0) } ?? .null),
            (Self.numbersKey, sortsNumbers.map { .integer($0 ? 1 : 0) } ?? .null),
        ]
    }

    private static let collationKey = "collationVersion"
    private static let languageKey = "sortLanguage"
    private static let numbersKey = "sortsNumbersByValue"

    /// The sort order for messages, or `nil` in a format before 4.
    var order: String? {
        language.map { "the sort language \"\($0)\"\(sortsNumbers == true ? " and numbers by value" : "")" }
    }

    /// Whether both sort in the same language, and numbers alike.
    func sorts(as other: KeyRules) -> Bool { language == other.language && sortsNumbers == other.sortsNumbers }
}
