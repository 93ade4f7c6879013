import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The names of files in a store's folder.
@Suite(.ownThreads) struct FileNameTests {
    @Test(arguments: [
        "", "a", "..", "../../../../../../etc/passwd00000", "/etc/passwd/aaaaaaaaaaaaaaaaaaaa",
        "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdef0", "0123456789ABCDEF0123456789abcdef",
        "0123456789abcdef0123456789abcde\n", "0123456789abcdef0123456789abcde\0", "0123456789abcdef/123456789abcdef",
        "0123456789abcdef0123456789abcdeg", "٠١٢٣٤٥٦٧٨٩abcdef0123456789abcdef", "é123456789abcdef0123456789abcde",
        "0123456789abcdef0123456789abcde\u{301}", String(repeating: "ж", count: 16), String(repeating: "a", count: 300),
    ])
    func `only 32 lower-case hexadecimal digits are a name`(text: String) {
        #expect(FileID(text) == nil)
        #expect(BlobName(text) == nil)
    }

    @Test func `names are random from their first digit and can be read back`() throws {
        var generator = SeededGenerator(seed: 7)
        let names = (0..<2000).map { _ in BlobName.random(using: &generator) }
        #expect(Set(names).count == 2000)
        #expect(Set(names.map(\.shard)).count > 240)
        for name in names { #expect(BlobName(name.rawValue) == name && name.rawValue.utf8.count == 32) }
        let id = FileID.random(using: &generator)
        #expect(FileID(id.rawValue) == id && id.description == id.rawValue)
        var zeros = Zeros()
        #expect(FileID.random(using: &zeros).rawValue == String(repeating: "0", count: 32))
    }

    private struct Zeros: RandomNumberGenerator {
        mutating func next() -> UInt64 { 0 }
    }
}
