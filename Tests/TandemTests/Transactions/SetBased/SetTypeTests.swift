import TestSupport
import Testing

/// Compiles assignments, of which only those with the right types may compile.
@Suite(.startsProcesses, .ownThreads) struct SetTypeTests {
    private static let prelude = """
        ```swift
        import Foundation
        import Tandem

        @Model struct Person {
            var name: String
        }

        @Model struct Card {
            @Folded var shop: String
            var nickname: String?
            var points = 0
            var small: Int8 = 0
            var date: Date?
            var isPinned = false
            var owner: Reference<Person>?
        }
        ```

        ```swift
        let store = try Store.inMemory(models: Card.self, Person.self)
        let cards = store.objects(Card.self)
        let people = store.objects(Person.self)
        let ada = Person(name: "Ада")
        ```
        """

    private static let right = [
        "$0.shop.set(to: \"x\")", "$0.nickname.set(to: nil)", "$0.nickname.set(to: $0.shop)",
        "$0.points.set(to: $0.points * 2 - 1)", "$0.small.set(to: 3 + $0.small)", "$0.date.set(to: Date())",
        "$0.isPinned.set(to: !$0.isPinned)", "$0.isPinned.set(to: $0.points > 5 && $0.owner == ada)",
        "$0.owner.set(to: ada)", "$0.owner.set(to: nil)",
    ]

    private static let wrong = [
        "$0.shop.set(to: 5)", "$0.shop.set(to: nil)", "$0.shop.set(to: $0.nickname)", "$0.points.set(to: \"5\")",
        "$0.points.set(to: $0.small)", "$0.points.set(to: $0.points + 0.5)", "$0.points.set(to: $0.points + $0.small)",
        "$0.isPinned.set(to: 1)", "$0.isPinned.set(to: $0.points)",
        "$0.date.set(to: $0.date + $0.date)", "$0.owner.set(to: \"Ада\")", "$0.owner.set(to: Card(shop: \"x\"))",
        "$0.shop.set(to: $0.shop + $0.shop)",
    ]

    @Test func `only assignments of the property's type compile`() throws {
        let calls = (Self.right + Self.wrong).map { "try store.write { tx in try tx.update(cards, set: { [\($0)] }) }" }
        let mixed = "try store.write { tx in try tx.update(people, set: { _ in [Card.Columns().points.set(to: 1)] }) }"
        let blocks = (calls + [mixed]).map { "\n\n```swift\n\($0)\n```" }.joined()
        let errors = try SwiftCompiler().errors(in: [Article(path: "Sets.md", text: Self.prelude + blocks)])
        // The first two blocks are the prelude.
        for (index, call) in calls.enumerated() {
            let isRefused = errors.contains { $0.hasPrefix("Sets.md, block \(index + 3):") }
            #expect(isRefused == (index >= Self.right.count), "\(call): \(errors)")
        }
        #expect(errors.contains { $0.hasPrefix("Sets.md, block \(calls.count + 3):") })
    }
}
