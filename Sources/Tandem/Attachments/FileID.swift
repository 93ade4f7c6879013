/// What an attachment's file is known by in its store: 32 lower-case hexadecimal digits, made of 16 random bytes.
///
/// ```swift
/// FileID("00c0ffee00c0ffee00c0ffee00c0ffee")  // an ID
/// FileID("../../etc/passwd")  // nil
/// ```
///
/// An ID is made when a file is attached, and stays when the file is uploaded, evicted or downloaded. It says nothing of
/// the file, nor of when it was made.
public struct FileID: Hashable, Sendable {
    /// The digits.
    public let rawValue: String

    /// An ID from its text.
    ///
    /// - Returns: `nil` for any text but 32 digits of `0123456789abcdef`.
    public init?(_ text: String) {
        guard HexName.isOne(text) else { return nil }
        rawValue = text
    }

    private init(unchecked text: String) { rawValue = text }

    /// A new ID.
    ///
    /// - Parameter generator: Gives the 16 bytes. One that can be predicted is for tests.
    public static func random(using generator: inout some RandomNumberGenerator) -> FileID {
        FileID(unchecked: HexName.random(using: &generator))
    }
}

extension FileID: CustomStringConvertible {
    public var description: String { rawValue }
}
