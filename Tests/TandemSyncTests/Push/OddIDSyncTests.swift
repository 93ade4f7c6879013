import DatasyncWire
import Foundation
import Tandem
import TandemServerCore
import TandemSync
import TestSupport
import Testing

/// IDs with quotes, slashes and similar characters are sent in both directions, and each names one object.
@Suite(.ownThreads) struct OddIDSyncTests {
    @Test(arguments: Dialect.both, ["cards", nil])
    func `unusual IDs are synchronized`(dialect: Dialect, queryID: String?) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device { $0.pageSize = 3 }
        for id in oddIDs.dropLast(4) { try await world.others.card(id) }
        #expect(try await sync.pull(Card.self, queryID: queryID).inserted == oddIDs.count - 4)
        // The other objects are made here.
        try await store.write { tx in
            for id in oddIDs.suffix(4) {
                try tx.insert(Card(shop: "Лента", barcode: "b\(id)").identified(by: LocalID(id.rawValue)))
            }
        }
        #expect(try await sync.push().isComplete)
        #expect(try Set(world.live("card").map(\.id)) == Set(oddIDs.map(\.rawValue)))
        try await store.write { tx in
            for id in oddIDs { try tx.update(Card.self, localID: LocalID(id.rawValue)) { $0.points = 7 } }
        }
        // Each ID is looked up too.
        for _ in oddIDs { world.next { $0.method == .get ? [] : [.lostResponse] } }
        for _ in 0...oddIDs.count where try store.operations.count() > 0 { try await sync.attemptPush() }
        #expect(try store.operations.count() == 0)
        #expect(try world.live("card").allSatisfy { $0.members["points"] == .number("7") })
        try await store.write { tx in
            for id in oddIDs { try tx.delete(Card.self, localID: LocalID(id.rawValue)) }
        }
        #expect(try await sync.push().isComplete)
        #expect(try world.live("card").isEmpty && store.checkIntegrity() == [])
        #expect(try await store.objects(Card.self).count() == 0)
        #expect(try await sync.pull(Card.self, queryID: queryID).changes == 0)
    }
}
