/// The name of a file in a store's folder.
///
/// It differs from the attachment's ID. A file that is encrypted again gets another name. The old file stays readable
/// until the row has the new name.
struct BlobName: Hashable, Sendable {
    /// 32 lower-case hexadecimal digits.
    let rawValue: String

    /// Creates a name from the database. An invalid name is damage and returns `nil`.
    init?(_ text: some StringProtocol) {
        guard HexName.isOne(text) else { return nil }
        rawValue = String(text)
    }

    private init(unchecked text: String) { rawValue = text }

    static func random(using generator: inout some RandomNumberGenerator) -> BlobName {
        BlobName(unchecked: HexName.random(using: &generator))
    }

    static func random() -> BlobName {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }

    /// The subfolder of the file: one of 256, so that each folder stays small.
    var shard: String { String(rawValue.prefix(2)) }

    /// The name of a file while it is written, if unnamed files are unsupported. It is derived from this name, or from
    /// another name in the same subfolder.
    var partial: String { rawValue + Self.partialSuffix }

    /// Returns another name in the same subfolder.
    func sibling() -> BlobName { BlobName(unchecked: shard + Self.random().rawValue.dropFirst(2)) }

    static let partialSuffix = ".partial"
}

extension BlobName: CustomStringConvertible {
    var description: String { rawValue }
}
