/// The name of a file in a store's folder.
///
/// Not the attachment's ID: a file that is encrypted anew gets another name, and the old one stays readable until the
/// row says the new.
struct BlobName: Hashable, Sendable {
    /// 32 lower-case hexadecimal digits.
    let rawValue: String

    /// A name from the database: `nil` if it is none, which is damage.
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

    /// The subfolder that the file lies in: one of 256, so that no folder gets long.
    var shard: String { String(rawValue.prefix(2)) }

    /// What a file is called while it is written, where files can't be without a name: one of this name, or of another
    /// in the same subfolder.
    var partial: String { rawValue + Self.partialSuffix }

    /// Another name in the same subfolder.
    func sibling() -> BlobName { BlobName(unchecked: shard + Self.random().rawValue.dropFirst(2)) }

    static let partialSuffix = ".partial"
}

extension BlobName: CustomStringConvertible {
    var description: String { rawValue }
}
