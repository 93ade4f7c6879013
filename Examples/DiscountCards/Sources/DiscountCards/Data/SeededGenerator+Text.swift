import TandemTesting

extension SeededGenerator {
    /// Seeds the generator with the FNV-1a hash of the text's UTF-8.
    init(_ text: String) {
        self.init(seed: text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
    }
}
