import BigInt
import Foundation
import OpenCombine
import Tandem
import TandemTesting
import TestSupport
import Testing

/// The README's first screen, compiled and run. The lines between the markers are the README's own, which the second
/// test makes sure of.
private enum FirstScreen {
    // README begins
    @Model struct Person {
        @Folded var name: String
    }

    @Model struct Card {
        @Folded var shop: String
        @Indexed var barcode: String
        var points: BigInt = 0
        @LocalOnly var isPinned = false
        var owner: Reference<Person>?
    }
    // README ends

    static func run(in folder: TemporaryFolder) throws -> [String] {
        var printed: [String] = []
        func print(_ values: Any...) {
            printed.append(values.map { "\($0)" }.joined(separator: " "))
        }
        func Store(at path: String, models: any Model.Type...) throws -> Tandem.Store {
            try Tandem.Store(at: folder.path(of: path), models: models)
        }
        // README begins
        let store = try Store(at: "cards.tandem", models: Card.self, Person.self)

        try store.write { tx in
            let ada = try tx.insert(Person(name: "Ада"))
            try tx.insert(Card(shop: "Пятёрочка", barcode: "4601234567893", owner: ada.reference))
        }

        let found = try store.objects(Card.self)
            .where { $0.isPinned || $0.shop.matches("пятероч") }
            .sorted(by: \.shop)
            .all()

        print(found[0].localID, found[0].serverID as Any, found[0].isSynced)  // a UUID, nil, false
        print(try store.operations.count())  // 2: both inserts are waiting to be sent

        let subscription = store.objects(Card.self).sorted(by: \.shop).changesetPublisher.on(.immediate)
            .sink(receiveCompletion: { _ in }) { change in
                print(change)  // 1 result, initial
            }
        try store.write { try $0.insert(Card(shop: "Лента", barcode: "4601234567909")) }  // 2 results: insertions at 0
        subscription.cancel()
        // README ends
        return printed
    }
}

@Suite(.ownThreads) struct ReadmeTests {
    @Test func `the first screen prints the output in its comments`() throws {
        try TemporaryFolder.with { folder in
            let printed = try FirstScreen.run(in: folder)
            #expect(printed.count == 4)
            #expect(printed[0].hasSuffix(" nil false"))
            #expect(UUID(uuidString: String(printed[0].prefix(36))) != nil)
            #expect(printed[1] == "2")
            #expect(printed[2...] == ["1 result, initial", "2 results: insertions at 0"])
        }
    }

    @Test func `the first screen is the tested code`() throws {
        let tested = try Snippets.marked("README", in: #filePath).flatMap { $0 }
        #expect(try Snippets.blocks(of: "README.md").first == tested)
    }
}
