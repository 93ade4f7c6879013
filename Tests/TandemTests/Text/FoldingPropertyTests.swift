import Foundation
import TestSupport
import Testing

@testable import Tandem

@Suite("Folding of random text", .ownThreads)
struct FoldingPropertyTests {
    /// `TANDEM_ROUNDS=1000000 swift test` runs more rounds.
    private static let count = ProcessInfo.processInfo.environment["TANDEM_ROUNDS"].flatMap { Int($0) } ?? 20_000

    /// Runs `law` on random texts and reports the shortest that breaks it, with the seed.
    private func check(_ law: (String) -> Bool) {
        let seed = testSeed()
        var random = RandomText(seed: seed)
        for _ in 0..<Self.count {
            let text = random.string()
            if law(text) { continue }
            let shortest = shrink(text) { !law($0) }
            Issue.record("seed \(seed): broken by \(shortest.hex)")
            return
        }
    }

    private func shrink(_ text: String, _ fails: (String) -> Bool) -> String {
        var scalars = text.unicodeScalars.map(\.value)
        var index = 0
        while index < scalars.count {
            var fewer = scalars
            fewer.remove(at: index)
            if fails(String(scalars: fewer)) {
                scalars = fewer
                index = 0
            } else {
                index += 1
            }
        }
        return String(scalars: scalars)
    }

    @Test func `the fast and the general path agree`() {
        check { hasEqualScalars(Folding.caseKey($0), generalCaseKey($0)) }
        check { hasEqualScalars(Folding.searchKey($0), generalSearchKey($0)) }
    }

    @Test func `a key is its own key`() {
        check {
            let key = Folding.caseKey($0)
            return hasEqualScalars(Folding.caseKey(key), key)
        }
        check {
            let key = Folding.searchKey($0)
            return hasEqualScalars(Folding.searchKey(key), key)
        }
    }

    @Test func `canonically equivalent texts have the same keys`() {
        for form in [\String.precomposedStringWithCanonicalMapping, \String.decomposedStringWithCanonicalMapping] {
            check { text in
                !isFoundationRight(about: text)
                    || hasEqualScalars(Folding.caseKey(text[keyPath: form]), Folding.caseKey(text))
                        && hasEqualScalars(Folding.searchKey(text[keyPath: form]), Folding.searchKey(text))
            }
        }
    }

    @Test func `keys are in normalization form C`() {
        check { text in
            [Folding.caseKey(text), Folding.searchKey(text)].allSatisfy { key in
                !isFoundationRight(about: key) || hasEqualScalars(key, key.precomposedStringWithCanonicalMapping)
            }
        }
    }

    @Test func `case does not matter to a search key, except for the iota of U+0345`() {
        check { text in
            // Upper case writes the ypogegrammeni as a separate letter, and the search key drops the mark.
            if text.decomposedStringWithCanonicalMapping.unicodeScalars.contains("\u{345}") { return true }
            let key = Folding.searchKey(text)
            return [text.lowercased(), text.uppercased()].allSatisfy { variant in
                // Swift's tables are newer: they have letters and cases that these do not have.
                (text + variant).unicodeScalars.contains { $0.properties.age ?? (99, 0) > (15, 0) }
                    || hasEqualScalars(Folding.searchKey(variant), key)
            }
        }
    }

    @Test func `a search key has no space at its ends and no two in a row`() {
        check {
            let key = Folding.searchKey($0)
            return !key.utf8.starts(with: [0x20]) && key.utf8.last != 0x20 && !key.contains("  ")
        }
    }

    @Test func `a text is found by each of its own words`() {
        check { text in
            let key = Folding.searchKey(text)
            return SearchNeedle(text).matches(searchKey: key) == !key.isEmpty
        }
    }
}
