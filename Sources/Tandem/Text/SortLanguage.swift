/// A language, whose alphabet decides the order of sorted names.
///
/// ``root`` is the order of the Unicode Collation Algorithm with CLDR's root. It suits most languages: English, German,
/// French, Italian, Portuguese, Dutch, and also Greek, Hebrew, Arabic and the languages of India. Choose another
/// language if its alphabet has an order of its own. For example, `å`, `ä` and `ö` follow `z` in Swedish:
///
/// ```swift
/// // root:    Ahlén, Åhlén, Öhman, Zorn
/// // swedish: Ahlén, Zorn, Åhlén, Öhman
/// ```
///
/// The raw value is stored in files and never changes. <doc:SortOrder> has the rules.
public enum SortLanguage: String, Hashable, Sendable, Codable, CaseIterable {
    /// The order of CLDR's root: no language's tailoring.
    case root
    /// Albanian.
    case albanian = "sq"
    /// Azerbaijani, in Latin script.
    case azerbaijani = "az"
    /// Belarusian. Cyrillic sorts before Latin.
    case belarusian = "be"
    /// Croatian, and Bosnian.
    case croatian = "hr"
    /// Czech.
    case czech = "cs"
    /// Danish. Upper case sorts before lower case.
    case danish = "da"
    /// Estonian.
    case estonian = "et"
    /// Finnish.
    case finnish = "fi"
    /// German, as in phone books: `ä` sorts as `ae`. Dictionaries use ``root``.
    case germanPhonebook = "de-phonebook"
    /// Greek. Greek sorts before Latin.
    case greek = "el"
    /// Hungarian.
    case hungarian = "hu"
    /// Icelandic.
    case icelandic = "is"
    /// Kazakh. Cyrillic sorts before Latin.
    case kazakh = "kk"
    /// Latvian.
    case latvian = "lv"
    /// Lithuanian.
    case lithuanian = "lt"
    /// Macedonian. Cyrillic sorts before Latin.
    case macedonian = "mk"
    /// Norwegian, both Bokmål and Nynorsk.
    case norwegian = "no"
    /// Polish.
    case polish = "pl"
    /// Romanian.
    case romanian = "ro"
    /// Russian, and Bulgarian: ``root`` with Cyrillic before Latin.
    case russian = "ru"
    /// Serbian, in Cyrillic script, which sorts before Latin.
    case serbian = "sr"
    /// Slovak.
    case slovak = "sk"
    /// Slovenian.
    case slovenian = "sl"
    /// Spanish: `ñ` is a letter.
    case spanish = "es"
    /// Spanish in the traditional order: `ch` and `ll` are letters too.
    case spanishTraditional = "es-traditional"
    /// Swedish.
    case swedish = "sv"
    /// Turkish.
    case turkish = "tr"
    /// Ukrainian. Cyrillic sorts before Latin.
    case ukrainian = "uk"
    /// Vietnamese.
    case vietnamese = "vi"
    /// Welsh.
    case welsh = "cy"
}

extension SortLanguage {
    /// Returns the sort key of a text in this language, by which a store sorts `@Folded` texts.
    ///
    /// Texts in memory are in the order of a store if they are sorted by the bytes of their keys:
    ///
    /// ```swift
    /// names.sorted { language.sortKey($0).lexicographicallyPrecedes(language.sortKey($1)) }
    /// ```
    ///
    /// Another version of Tandem may have other keys, so do not store them.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - sortsNumbersByValue: Whether sequences of digits are sorted by their value: see
    ///     ``Store/Configuration/sortsNumbersByValue``.
    public func sortKey(_ text: String, sortsNumbersByValue: Bool = false) -> [UInt8] {
        Collation(language: self, isNumeric: sortsNumbersByValue).key(for: text)
    }
}
