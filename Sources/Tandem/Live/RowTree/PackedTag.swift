/// The form of a column in a row's payload: a tag, then the value.
///
/// | tag | value |
/// |---|---|
/// | 0 | NULL |
/// | 1 + n, n = 0...8 | integer of n bytes, the lowest first |
/// | 10 | real number of 8 bytes |
/// | 11 | text of a UUID: 16 bytes (``PackedUUID``) |
/// | 12 | text with which the sort key ends: its length |
/// | 13 | text after the first byte of the sort key: its length |
/// | 14, 15 | text, blob: its length, then its bytes |
/// | 16 | the text of the local ID |
/// | 17 + n, n < 119 | text of n bytes |
/// | 136 + n, n < 119 | blob of n bytes |
///
/// Lengths are varints (see ``RowView``). A list sorted by a text has the text in its keys: it is not stored twice.
enum PackedTag {
    static let null: UInt8 = 0
    static let integer: UInt8 = 1
    static let real: UInt8 = 10
    static let uuid: UInt8 = 11
    static let keyEnd: UInt8 = 12
    static let keyStart: UInt8 = 13
    static let longText: UInt8 = 14
    static let longBlob: UInt8 = 15
    static let localID: UInt8 = 16
    static let text: UInt8 = 17
    static let blob: UInt8 = 136
    /// The number of lengths that a tag contains.
    static let shortCount = 119
    /// The length from which a text refers to the key.
    static let leastShared = 4
}
