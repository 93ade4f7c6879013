import Foundation
import TandemTesting
import TestSupport

@testable import Tandem

extension SeededGenerator {
    mutating func string(of letters: [Unicode.Scalar], maxCount: Int) -> String {
        var view = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...maxCount, using: &self) {
            view.append(letters.randomElement(using: &self)!)
        }
        return String(view)
    }
}

/// Returns a new seed for each run, or the seed of a failure to reproduce: `TANDEM_SEED=123 swift test`.
func testSeed() -> UInt64 {
    SeededGenerator.seed(from: "TANDEM_SEED")
}

/// Random text in which neighbors matter: a mix of letters, marks, jamo, punctuation and white space.
struct RandomText {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    private static let pools: [[ClosedRange<UInt32>]] = [
        [0x20...0x7E], [0x20...0x24F], [0x370...0x3FF, 0x1F00...0x1FFF], [0x400...0x52F], [0x590...0x6FF],
        [0x300...0x36F], [0x300...0x36F, 0x20D0...0x20F0], [0x900...0xDFF], [0xE00...0xEFF], [0x10A0...0x10FF],
        [0x1100...0x11FF, 0xAC00...0xAC40], [0x13A0...0x13FF, 0xAB70...0xABBF], [0x2000...0x206F], [0x2100...0x24FF],
        [0x3000...0x3100], [0xFB00...0xFDFF], [0xFE00...0xFFEF], [0x1D400...0x1D7FF], [0x1F300...0x1F6FF],
        [0x0...0x1F, 0x7F...0xA0], [0x20...0x20, 0x2D...0x2D, 0xAD...0xAD, 0x200D...0x200D, 0x34F...0x34F],
        [0x345...0x345, 0x306...0x306, 0x438...0x438, 0x418...0x418, 0x443...0x443, 0xB4...0xB4, 0x385...0x385],
        [0x3099...0x309A, 0xFF9E...0xFF9F, 0xFF66...0xFF9D], [0x0...0xD7FF, 0xE000...0x10FFFF],
    ]

    mutating func scalar(in ranges: [ClosedRange<UInt32>]) -> Unicode.Scalar {
        Unicode.Scalar(UInt32.random(in: ranges.randomElement(using: &generator)!, using: &generator))!
    }

    mutating func string(maxCount: Int = 12) -> String {
        let pools = (0..<3).map { _ in Self.pools.randomElement(using: &generator)! }
        var view = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...maxCount, using: &generator) {
            view.append(scalar(in: pools.randomElement(using: &generator)!))
        }
        return String(view)
    }
}

extension String {
    /// The scalars as text for comparisons. `==` on strings is canonical equivalence, which is too weak here.
    var hex: String { unicodeScalars.map { String($0.value, radix: 16, uppercase: true) }.joined(separator: " ") }

    init(scalars: [UInt32]) {
        self.init(String.UnicodeScalarView(scalars.map { Unicode.Scalar($0)! }))
    }
}

/// Returns whether Foundation's forms are an oracle for `text`.
///
/// NB: The normalization of Swift 6.3 composes some sequences that Unicode does not, because of an off-by-one range. It
/// composes U+1104 U+1176 into U+B77C, and U+1113 U+1170 into U+FFFD. It also treats U+4006C as U+006C, and U+31F0C as
/// U+1F0C. `FoldingTableTests` verifies the first three of these.
func isFoundationRight(about text: String) -> Bool {
    !text.unicodeScalars.contains { [0x1113, 0x1176, 0x11A7, 0x11C3].contains($0.value) || $0.value >= 0x3_0000 }
}

func hasEqualScalars(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

/// Returns the keys by the general way alone.
func generalCaseKey(_ text: String) -> String { generalKey(text, CaseRules.self) }
func generalSearchKey(_ text: String) -> String { generalKey(text, SearchRules.self) }

private func generalKey<Rules: FoldingRules>(_ text: String, _: Rules.Type) -> String {
    var text = text
    var out: [UInt8] = []
    text.withUTF8 { FoldingPass<Rules>.append($0, to: &out, isGeneral: true) }
    return String(decoding: out, as: UTF8.self)
}

let allScalars: [Unicode.Scalar] = (UInt32(0)..<0x110000).compactMap { Unicode.Scalar($0) }

/// All scalars that can have entries in the tables, and one in sixteen of the others. The long form has all scalars.
let testedScalars: [Unicode.Scalar] = allScalars.filter {
    isSoak || $0.value < 0x2_0000 || $0.value >> 12 == 0x2F || $0.value >> 12 == 0xE0 || $0.value % 16 == 0
}
