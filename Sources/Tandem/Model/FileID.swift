/// The ID of an attachment's file in its store: 32 lower-case hexadecimal digits, made of 16 random bytes.
///
/// ```swift
/// FileID("00c0ffee00c0ffee00c0ffee00c0ffee")  // an ID
/// FileID("../../etc/passwd")  // nil
/// ```
///
/// An ID is made when a file is attached, and stays when the file is uploaded, evicted or downloaded. It reveals
/// nothing about the file or its time of creation.
public struct FileID: Hashable, Sendable {
    /// The digits.
    public let rawValue: String

    /// Creates an ID from its text.
    ///
    /// - Returns: `nil` unless the text is 32 digits of `0123456789abcdef`.
    public init?(_ text: String) {
        guard HexName.isOne(text) else { return nil }
        rawValue = text
    }

    private init(unchecked text: String) { rawValue = text }

    /// Returns a new ID.
    ///
    /// - Parameter generator: The source of the 16 bytes. Use a predictable one in tests only.
    public static func random(using generator: inout some RandomNumberGenerator) -> FileID {
        FileID(unchecked: HexName.random(using: &generator))
    }
}

extension FileID: CustomStringConvertible {
    /// The digits.
    public var description: String { rawValue }
}
