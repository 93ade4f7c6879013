import BigInt
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Limits, search and queries through references.
@Suite(.ownThreads) struct WindowAndReferenceTests {
    @Test(arguments: StoreKind.allCases)
    func `a row that leaves a limited list is replaced by the next one`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            var cards: [Card] = []
            for index in 0..<120 { cards.append(try store.insert("\(1000 + index)", BigInt(index))) }
            let list = Follower(store.cards.sorted(by: \.points).limit(3))
            let page = Follower(store.cards.sorted(by: \.points).offset(2).limit(2))
            _ = try (list.next(), page.next())
            try store.write { try $0.delete(cards[1]) }
            let change = try #require(try list.next().last)
            #expect(change.deletedIDs == [cards[1].localID] && change.insertedIDs == [cards[3].localID])
            _ = try page.next()
            // More rows than the reserve has.
            try store.write { tx in
                for card in cards[3..<90] { try tx.delete(card) }
            }
            #expect(try list.next().count == 1)
            #expect(list.list.map(\.points) == [0, 2, 90])
            _ = try page.next()
            try store.insert("first", -1)
            #expect(try list.next().last?.deletions == [2])
            _ = try page.next()
            // A change outside the window is not reported.
            try store.change(cards[119]) { $0.points = 500 }
            #expect(try list.next().isEmpty)
            _ = try page.next()
            list.recorder.cancel()
            page.recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a search is updated`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let found = try store.insert("Пятёрочка")
            try store.insert("Лента")
            let list = Follower(store.cards.where { $0.shop.matches("пятероч") })
            let short = Follower(store.cards.where { $0.shop.matches("ле") })
            #expect(try list.next().last?.results.count == 1)
            #expect(try short.next().last?.results.count == 1)
            try store.insert("ПЯТЁРОЧКА 2")
            try store.change(found) { $0.shop = "Ле" }
            #expect(try list.next().map(\.results.count) == [2, 1])
            #expect(try short.next().map(\.results.count) == [2])
            list.recorder.cancel()
            short.recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a changed owner name moves the cards`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let ada = try store.write { try $0.insert(Person(name: "Ада")) }
            let bob = try store.write { try $0.insert(Person(name: "Боб")) }
            let cards = try ["1", "2", "3"].enumerated().map { try store.insert($1, owner: $0 == 1 ? bob : ada) }
            let sorted = Follower(store.cards.sorted(by: .ascending(\.owner.name, nils: .last), .ascending(\.shop)))
            let filtered = Follower(store.cards.where { $0.owner.name == "Боб" })
            #expect(try sorted.next().last?.results.map(\.shop) == ["1", "3", "2"])
            #expect(try filtered.next().last?.results.map(\.shop) == ["2"])
            try store.write { tx in try tx.update(Person.self, localID: ada.localID) { $0.name = "Яна" } }
            let change = try #require(try sorted.next().last)
            #expect(change.results.map(\.shop) == ["2", "1", "3"])
            #expect(change.deletedIDs.isEmpty && !change.moves.isEmpty)
            #expect(try filtered.next().isEmpty)
            try store.write { tx in try tx.update(Person.self, localID: ada.localID) { $0.name = "Боб" } }
            #expect(try filtered.next().last?.insertedIDs.count == 2)
            // A card loses its owner, and one owner is deleted.
            try store.change(cards[0]) { $0.owner = nil }
            try store.write { try $0.delete(bob) }
            _ = try (sorted.next(), filtered.next())
            #expect(filtered.list.map(\.shop) == ["3"])
            sorted.recorder.cancel()
            filtered.recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a matching badge moves its card`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let star = try store.write { try $0.insert(Badge(name: "star")) }
            for shop in ["А", "Б", "В"] { try store.insert(shop) }
            let last = try #require(try store.cards.where { $0.shop == "В" }.first())
            let list = Follower(
                store.cards.sorted(by: .matchingFirst { $0.badges.any { $0.name == "star" } }, .ascending(\.shop)))
            let first = try list.next()
            #expect(first.last?.results.map(\.shop) == ["А", "Б", "В"])
            try store.change(last) { $0.badges = [star.reference] }
            let change = try #require(try list.next().last)
            #expect(change.results.map(\.shop) == ["В", "А", "Б"])
            #expect(change.moves.count == 1, "\(change)")
            try store.write { tx in try tx.update(Badge.self, localID: star.localID) { $0.name = "moon" } }
            let back = try list.next()
            #expect(back.last?.results.map(\.shop) == ["А", "Б", "В"])
            list.recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `distinct values and bulk changes are reloaded`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let distinct = Follower(store.cards.sorted(by: \.shop).distinct(by: \.points))
            let all = Follower(store.cards.sorted(by: \.shop))
            _ = try (distinct.next(), all.next())
            try store.write { tx in
                try tx.insert(
                    contentsOf: (0..<LiveTuning().bulkLimit + 10).map {
                        Card(shop: "\($0)", barcode: "\($0)", points: BigInt($0 % 5))
                    })
            }
            #expect(try distinct.next().map(\.insertions.count) == [5])
            #expect(try all.next().map(\.insertions.count) == [LiveTuning().bulkLimit + 10])
            distinct.recorder.cancel()
            all.recorder.cancel()
        }
    }
}
