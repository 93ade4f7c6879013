import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemSync
import TestSupport
import Testing

/// Invalid responses to direct reads and writes of a table. Each is an error that names the table, the address and the
/// property.
@Suite(.ownThreads) struct RemoteTableHostileTests {
    private func isReported(_ error: any Error, _ nonsense: Nonsense) -> Bool {
        guard let error = error as? SyncError, error.code == .invalidResponse, error.table == "Card" else {
            return false
        }
        guard !nonsense.isAboutAValue else { return error.property == nonsense.property }
        return error.url?.hasPrefix("https://shop.example/tables/") == true && error.status == 200
    }

    @Test(arguments: Dialect.both, Nonsense.allCases)
    func `an invalid response reports its table`(dialect: Dialect, nonsense: Nonsense) async throws {
        let world = try SyncWorld(dialect)
        let line = MangledLine(world)
        let (store, _) = try world.device()
        let cards = try line.context(store).remoteTable(Card.self)
        let plain = try world.context(store).remoteTable(Card.self)
        let card = try await plain.insert(Card(shop: "Лента", barcode: "1", points: 1))
        let serverID = try #require(card.serverID)
        func fails(_ name: Comment, _ isRead: Bool, _ body: () async throws -> Void) async {
            line.next(nonsense) { ($0.method == .get) == isRead }
            await #expect(name) { try await body() } throws: { isReported($0, nonsense) }
            #expect(line.isDone, name)
        }
        await fails("find", true) { _ = try await cards.find(serverID) }
        await fails("objects", true) { _ = try await cards.objects().all() }
        if !nonsense.isAboutAValue { await fails("count", true) { _ = try await cards.objects().count() } }
        await fails("insert", false) { try await cards.insert(Card(shop: "Магнит", barcode: "2", points: 2)) }
        let current = try #require(try await plain.find(serverID))
        await fails("update", false) { try await cards.update(current) }
        let next = try #require(try await plain.find(serverID))
        if !nonsense.isAboutAValue {
            await fails("delete", false) { try await cards.delete(next) }
        } else {
            try await plain.delete(next)
        }
        if nonsense.isAboutAValue, dialect.undeletesByPost {
            // The result of an undelete without values is not read.
            line.nextChange(nonsense)
            #expect(try await cards.undelete(next).points == 1)
        } else {
            await fails("undelete", false) { try await cards.undelete(next) }
        }
        #expect(try await store.objects(Card.self).count() == 0 && store.operations.count() == 0)
    }

    @Test(arguments: Dialect.both)
    func `IDs with special characters are found`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let cards = try world.device().1.remoteTable(Card.self)
        for (index, id) in oddIDs.enumerated() {
            let card = Card(shop: "Лента", barcode: "\(index)").identified(by: LocalID(id.rawValue))
            var made = try await cards.insert(card)
            #expect(made.serverID == id)
            made.points = 7
            let changed = try await cards.update(made)
            #expect(try await cards.find(id)?.points == 7)
            try await cards.delete(changed)
            #expect(try await cards.find(id) == nil)
            #expect(try await cards.undelete(changed).serverID == id)
        }
        #expect(try await Set(cards.objects().all().compactMap(\.serverID)) == Set(oddIDs))
    }
}
