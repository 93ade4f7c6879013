import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemSync
import TestSupport
import Testing

/// Direct access to the server, without the store.
@Suite(.ownThreads) struct RemoteTableTests {
    @Test(arguments: Dialect.both)
    func `objects are written and read without the store`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device { $0.pageSize = 2 }
        let (people, cards) = (try sync.remoteTable(Person.self), try sync.remoteTable(Card.self))
        let ada = try await people.insert(Person(name: "Ада"))
        #expect(ada.serverID?.rawValue == ada.localID.rawValue && ada.version != nil)
        for index in 1...5 {
            let card = Card(shop: "Лента", barcode: "\(index)", points: index, owner: ada.reference, note: "here")
            let made = try await cards.insert(card)
            #expect(made.points == index && made.owner == ada.reference && made.note.isEmpty)
        }
        #expect(try await cards.objects().all().map(\.points).sorted() == [1, 2, 3, 4, 5])
        #expect(try await cards.objects { $0.points > 3 }.all().map(\.points).sorted() == [4, 5])
        #expect(try await cards.objects { $0.points > 3 }.count() == 2)
        var card = try #require(try await cards.objects { $0.barcode == "1" }.all().first)
        card.nickname = "мой"
        let changed = try await cards.update(card)
        #expect(changed.nickname == "мой" && changed.version != card.version)
        // Another client has changed the version read first.
        await #expect { try await cards.update(card) } throws: { ($0 as? SyncError)?.code == .conflict }
        await #expect { try await cards.delete(card) } throws: { ($0 as? SyncError)?.code == .conflict }
        try await cards.delete(changed)
        try await cards.delete(changed)
        #expect(try await cards.find(changed.serverID!) == nil)
        await #expect { try await cards.update(changed) } throws: { ($0 as? SyncError)?.code == .deletedOnServer }
        let back = try await cards.undelete(changed)
        #expect(back.nickname == "мой")
        #expect(try await cards.find(changed.serverID!)?.nickname == "мой")
        #expect(try await cards.find("missing") == nil)
        await #expect { try await cards.insert(back) } throws: { ($0 as? SyncError)?.code == .conflict }
        #expect(try await store.objects(Card.self).count() == 0 && store.operations.count() == 0)
    }

    @Test(arguments: Dialect.both)
    func `unknown members stay`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (_, sync) = try world.device()
        try await world.others.card("a", extra: [("colour", .text("red"))])
        let cards = try sync.remoteTable(Card.self)
        var card = try #require(try await cards.find("a"))
        card.points = 7
        try await cards.update(card)
        #expect(try world.texts("Card", "colour") == ["red"])
    }

    @Test func `references are sent as server IDs`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try sync.table(Person.self).setIdentity(.server(lookUp: nil))
        let person = try await store.write { try $0.insert(Person(name: "Ада")) }
        try await sync.push()
        let card = try await sync.remoteTable(Card.self)
            .insert(Card(shop: "x", barcode: "1", owner: person.reference))
        let serverID = try #require(try await store.objects(Person.self).first()?.serverID)
        #expect(card.owner?.localID.rawValue == serverID.rawValue && serverID.rawValue != person.localID.rawValue)
    }

    @Test(arguments: Dialect.both)
    func `objects have server IDs if the server makes the IDs`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try sync.table(Card.self).setIdentity(.server(lookUp: nil))
        let cards = try sync.remoteTable(Card.self)
        let sent = Card(shop: "Лента", barcode: "1", points: 1)
        var card = try await cards.insert(sent)
        let serverID = try #require(card.serverID)
        #expect(serverID.rawValue != sent.localID.rawValue && card.version != nil)
        card.points = 2
        card = try await cards.update(card)
        #expect(card.points == 2 && card.serverID == serverID)
        #expect(try await cards.find(serverID)?.points == 2)
        // It has no server ID by which it could be changed or deleted.
        await #expect { try await cards.update(sent) } throws: { $0 is SyncError }
        try await cards.delete(card)
        #expect(try await cards.find(serverID) == nil)
        #expect(try await cards.undelete(card).serverID == serverID)
        #expect(try await cards.objects().all().map(\.serverID) == [serverID])
        #expect(try await store.objects(Card.self).count() == 0)
    }

    @Test func `a direct read does not bind the store to a server`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device { $0.serverName = "production" }
        let cards = try sync.remoteTable(Card.self)
        let card = try await cards.insert(Card(shop: "x", barcode: "1"))
        #expect(try await cards.objects().all().count == 1)
        #expect(try await cards.find(card.serverID!) != nil)
        try await cards.delete(cards.undelete(card))
        func remembered() async throws -> String? {
            try await TandemStore(store).read { local in try local.syncSetting(.server) }
        }
        #expect(try await remembered() == nil)
        try await sync.pull(Card.self)
        #expect(try await remembered() != nil)
    }

    @Test func `an endless server is reported`() async throws {
        let server = PagedServer()
        server.on { state, _ throws(RemoteFailure) in
            let row = PagedServer.Row(id: "\(state.requests.count)", version: 1, time: state.now, name: "x")
            return RemotePage(items: [PagedServer.item(row)], hasMore: true)
        }
        var options = SyncContext.Options()
        options.pageLimit = 20
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        let pets = try SyncContext(store: store, remote: server, options: options).remoteTable(Pet.self)
        await #expect { try await pets.objects().all() } throws: { ($0 as? SyncError)?.code == .tooManyPages }
        #expect(server.requests.count == 20)
    }

    @Test func `a direct read fails without a network`() async throws {
        let world = try SyncWorld()
        let (_, sync) = try world.device()
        let cards = try sync.remoteTable(Card.self)
        func fails(_ body: () async throws -> Void) async {
            world.next { _ in [.lostRequest] }
            await #expect { try await body() } throws: {
                ($0 as? SyncError)?.code == .unreachable && ($0 as? SyncError)?.table == "Card"
            }
        }
        let card = Card(shop: "x", barcode: "1")
        await fails { _ = try await cards.objects().all() }
        await fails { _ = try await cards.find("a") }
        await fails { try await cards.insert(card) }
        await fails { try await cards.update(card) }
        await fails { try await cards.delete(card) }
        await fails { try await cards.undelete(card) }
    }
}
