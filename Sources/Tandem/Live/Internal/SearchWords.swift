/// The words of a needle, as SQL looks for them in a search twin.
struct SearchWords: Sendable {
    /// Found by GLOB, to which a text ends at U+0000.
    private var globbed: [[UInt8]] = []
    /// Found by `instr`, anywhere.
    private var plain: [[UInt8]] = []

    /// The fewest scalars that SQL looks up in the index.
    private static let trigram = 3

    /// `nil` if there are words that GLOB takes for others: to it U+FFFE and U+FFFF are U+FFFD.
    init?(_ needle: SearchNeedle) {
        for word in needle.words {
            if word.unicodeScalars.count >= Self.trigram, !word.utf8.contains(0) {
                if word.unicodeScalars.contains(where: { (0xFFFD...0xFFFF).contains($0.value) }) { return nil }
                globbed.append(Array(word.utf8))
            } else {
                plain.append(Array(word.utf8))
            }
        }
    }

    func occur(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        for word in plain where !Self.contains(text, word) { return false }
        for word in globbed where !Self.contains(text, word) { return false }
        if globbed.isEmpty { return true }
        guard let end = text.firstIndex(of: 0) else { return true }
        let start = UnsafeBufferPointer(rebasing: text[..<end])
        for word in globbed where !Self.contains(start, word) { return false }
        return true
    }

    private static func contains(_ text: UnsafeBufferPointer<UInt8>, _ word: [UInt8]) -> Bool {
        word.withUnsafeBufferPointer { ByteSearch.contains(text, $0) }
    }
}
