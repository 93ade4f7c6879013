import BigInt
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The strategy by which each kind of query follows changes. Each row of the table in LiveQueries.md has a case.
@Suite(.ownThreads) struct LiveCostTests {
    let store: Store
    var cards: Results<Card> { store.objects(Card.self) }

    init() throws {
        store = try Store.inMemory(models: Card.self, Person.self, Badge.self)
    }

    private let byItself = "each changed row is evaluated by itself"

    @Test func `conditions on own properties, search and orders are evaluated change by change`() throws {
        for query in [
            cards, cards.where { $0.points > 3 && !$0.isPinned || $0.barcode.in(["1", "2"]) },
            cards.where { $0.shop.matches("пятероч") }, cards.where { $0.shop.hasPrefix("П") && $0.owner != nil },
            cards.where { !$0.isSynced }, cards.sorted(by: .descending(\.shop), .ascending(\.points)),
            cards.sorted(by: .matchingFirst { $0.isPinned }, .ascending(\.shop)), cards.onlyDeleted(),
        ] {
            #expect(try query.explain().live == byItself)
        }
    }

    @Test func `limits are evaluated change by change with a reserve`() throws {
        #expect(
            try cards.sorted(by: \.shop).limit(20).explain().live
                == "\(byItself); the first 20 and a reserve of 32 are kept")
        #expect(
            try cards.limit(5_000).explain().live == "\(byItself); the first 5000 and a reserve of 1000 are kept")
        #expect(
            try cards.sorted(by: \.shop).offset(10).limit(20).explain().live
                == "\(byItself); the first 30, of which 20 are shown, and a reserve of 32 are kept")
    }

    @Test func `conditions through references are evaluated change by change on both sides`() throws {
        let owner = "\(byItself), and those of Person through owner"
        #expect(try cards.where { $0.owner.name == "Ада" }.explain().live == owner)
        #expect(try cards.where { $0.owner.name.matches("ада") }.explain().live == owner)
        #expect(try cards.sorted(by: .ascending(\.owner.name, nils: .last)).explain().live == owner)
        #expect(
            try cards.sorted(by: \.owner.name).limit(3).explain().live
                == "\(owner); the first 3 and a reserve of 32 are kept")
    }

    @Test func `conditions through several references list each path`() throws {
        let store = try makeQueryStore()
        defer { store.close() }
        #expect(
            try store.objects(Thing.self).where { $0.owner.boss.name == "Боб" }.explain().live
                == "\(byItself), and those of Owner through owner, and those of Owner through owner.boss")
    }

    @Test func `lists of references and inverse links are evaluated change by change on both sides`() throws {
        let badges = "\(byItself), and those of Badge through badges"
        for query in [
            cards.where { $0.badges.any { $0.name == "x" } }, cards.where { $0.badges.count > 2 },
            cards.sorted(by: .matchingFirst { $0.badges.any { $0.name == "star" } }, .ascending(\.shop)),
        ] {
            #expect(try query.explain().live == badges)
        }
        #expect(
            try store.objects(Person.self).where { $0.cards.any { $0.points > 3 } }.explain().live
                == "\(byItself), and those of Card through Card.owner")
        #expect(
            try cards.where { $0.badges.isEmpty }.limit(3).explain().live
                == "\(badges); the first 3 and a reserve of 32 are kept")
        #expect(try cards.includingDeleted().where { $0.badges.isEmpty }.explain().live == badges)
    }

    @Test func `a path behind inverse links names its models`() throws {
        let store = try Store.inMemory(models: Song.self, Star.self, Fan.self, Playlist.self)
        defer { store.close() }
        #expect(
            try store.objects(Song.self).where { $0.stars.any { $0.fan.name == "Ада" } }.explain().live
                == "\(byItself), and those of Star through Star.song, and those of Fan through Star.song and Star.fan")
        #expect(
            try store.objects(Playlist.self).where { $0.songs.any { $0.stars.count > 1 } }.explain().live
                == "\(byItself), and those of Song through songs, and those of Star through songs and Star.song")
        #expect(
            try store.objects(Star.self).where { $0.song.playlists.isEmpty }.explain().live
                == "\(byItself), and those of Song through song, and those of Playlist through song and Playlist.songs")
    }

    @Test func `distinct, conditions after a limit, offsets without a limit and far windows are reloaded`() throws {
        let again = "reloaded after each commit that changes Card: "
        #expect(
            try cards.distinct(by: \.points).explain().live
                == again + "the object that distinct(by:) selects depends on all objects with the same value")
        #expect(
            try cards.sorted(by: \.shop).limit(10).where { $0.points > 1 }.explain().live
                == again + "it filters or sorts the objects that a limit or distinct(by:) selects")
        #expect(try cards.offset(3).explain().live == again + "it has an offset without a limit")
        #expect(
            try cards.limit(100_001).explain().live == again + "its window ends beyond 100000 objects")
    }

    private func part<Value: Sendable>(_ aggregate: Aggregate<Card, Value>, of query: Results<Card>) -> any LivePart {
        AggregatePart(query.query, node: aggregate.node) { try aggregate.value($0, column: 0, store: "") }
    }

    private func isRow(_ part: any LivePart) throws -> Bool {
        if case .rows = try part.watch(in: store.schema) { true } else { false }
    }

    @Test func `counts and aggregates of own properties are evaluated change by change, others reloaded`() throws {
        #expect(try isRow(part(.count, of: cards.where { $0.points > 3 })))
        #expect(try !isRow(part(.count, of: cards.where { $0.owner.name == "Ада" })))
        #expect(try !isRow(part(.count, of: cards.limit(3))))
        #expect(try isRow(part(.sum(\.points), of: cards.where { $0.points > 3 })))
        #expect(try isRow(part(.max(\.shop), of: cards)))
        #expect(try !isRow(part(.max(\.owner.name), of: cards)))
    }

    @Test func `sums of doubles and a removed extreme are reloaded`() {
        var sum = RunningAggregate(.sum(Thing.Columns().ratio.__column, kind: .real), stored: [.real(1)])
        let isSumKnown = sum.replace(nil, with: .real(1))
        #expect(!isSumKnown)
        var least = RunningAggregate(.minimum(Thing.Columns().int.__column), stored: [.integer(1)])
        let known = [
            least.replace(.integer(5), with: .integer(0)), least.replace(.integer(7), with: nil),
            least.replace(.integer(0), with: .integer(2)),
        ]
        #expect(known == [true, true, false])
    }
}
