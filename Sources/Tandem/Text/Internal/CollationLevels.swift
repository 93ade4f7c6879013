/// The bytes of a collation key beside the primary weights.
///
/// A key is the primary weights, the secondary weights, the tertiary weights, and the text if those don't determine it.
/// Runs of the common weight are bytes with their length. A run at the end of a level is omitted.
enum CollationLevels {
    // MARK: - The end of the primary weights

    /// Ends the primary weights if all secondary weights are common.
    static let endWithoutSecondaries: UInt8 = 0x01
    /// Ends the primary weights if secondary weights follow.
    static let endWithSecondaries: UInt8 = 0x02

    // MARK: - Secondary weights

    /// Ends the secondary weights.
    static let endOfSecondaries: UInt8 = 0x01
    /// A run of *n* common weights is `secondaryRun - n`, so that a longer run is less. All others are greater.
    static let secondaryRun: UInt8 = 0x2A
    static let longestSecondaryRun = 40
    /// The first of the weights with one byte.
    static let firstSecondary: UInt8 = 0x2A
    /// The number of weights with one byte. The others have two.
    static let shortSecondaries = 200

    // MARK: - Tertiary weights

    /// The common weight, in the table of bytes.
    static let common: UInt8 = 0
    /// The first byte of the weights below the common one.
    static let firstLow: UInt8 = 0x01
    /// A run of *n* common weights before a lesser weight is `lowRun + n`.
    static let lowRun: UInt8 = 0x3F
    static let longestLowRun = 32
    /// Ends the tertiary weights, and states how the text compares with the canonical text of the weights.
    static let endBelow: UInt8 = 0x60
    static let endPlain: UInt8 = 0x61
    static let endAbove: UInt8 = 0x62
    /// A run of *n* common weights before a weight between common and upper case is `highRun - 3 * n`. The next byte is
    /// a run before the weight of upper case, which the byte includes. The byte after that is a run before a greater
    /// weight.
    static let highRun: UInt8 = 0xBC
    static let longestHighRun = 29
    /// The longest run, if more common weights follow.
    static let endlessHighRun: UInt8 = 0x64
    /// The first byte of the weights above the common one.
    static let firstHigh: UInt8 = 0xBC

    // MARK: - The text

    /// Ends the text.
    static let endOfText: UInt8 = 0x00
    /// The noncharacter U+FFFE, which is less than all scalars.
    static let leastScalar: UInt8 = 0x01
    /// The difference between a byte of the key and a byte of the text's UTF-8.
    static let textOffset: UInt8 = 0x02
}
