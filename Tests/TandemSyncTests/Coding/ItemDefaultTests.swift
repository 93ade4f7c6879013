import Foundation
import Tandem
import TestSupport
import Testing

@testable import TandemSync

/// A clock that returns the same time for many calls in a row.
enum CoarseClock {
    static let calls = Counter()

    static func now() -> Date { Date(timeIntervalSinceReferenceDate: Double(calls.next() / 16)) }
}

/// Null for a property that is not optional.
@Suite(.ownThreads) struct ItemDefaultTests {
    @Model struct Visit {
        var shop: String
        var points: Int = 3
        var seen: Date = CoarseClock.now()
    }

    @Test func `null becomes a constant default, and leaves a property with a computed default unchanged`() throws {
        let coder = ItemCoder(model: Visit.__definition, format: WireFormat())
        let item = RemoteItem(id: "a", members: [("shop", .text("Лента")), ("points", .null), ("seen", .null)])
        // Two calls in a row differ for at most one of eight items.
        for _ in 1...8 {
            let stored = try coder.decode(item)
            #expect(stored.values == ["shop": "Лента", "points": 3])
            #expect(stored.extras != nil)
        }
    }
}
