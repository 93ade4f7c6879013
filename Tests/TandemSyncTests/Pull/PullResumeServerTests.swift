import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemSync
import TestSupport
import Testing

/// Full pulls from a server with production logic, interrupted while both sides change.
@Suite(.ownThreads) struct PullResumeServerTests {
    struct Plan: CustomTestStringConvertible, Sendable {
        let dialect: Dialect
        let deletesSoftly: Bool
        /// Whether an incremental pull of the same table runs in between.
        let pullsBetween: Bool

        var testDescription: String {
            """
            \(dialect.wrapsPages ? "Datasync" : "Azure Mobile Apps"), tombstones \(deletesSoftly), \
            another pull \(pullsBetween)
            """
        }

        static let all: [Plan] = Dialect.both.flatMap { dialect in
            [true, false].flatMap { deletesSoftly in
                [true, false].map { Plan(dialect: dialect, deletesSoftly: deletesSoftly, pullsBetween: $0) }
            }
        }
    }

    private static let ids = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] as [ServerID]

    /// Creates a server with ten cards, and a device that has them.
    private func makeWorld(_ plan: Plan) async throws -> (SyncWorld, Store, SyncContext) {
        let world = try SyncWorld(plan.dialect) { $0.otherTables = ServerTable(deletesSoftly: plan.deletesSoftly) }
        let (store, sync) = try world.device { $0.pageSize = 2 }
        for id in Self.ids { try await world.others.card(id) }
        try await sync.pull(Card.self)
        world.clock.advance(by: 60)
        return (world, store, sync)
    }

    /// Loses the response to a request for a page.
    private func loseResponse(toPage number: Int, of world: SyncWorld) {
        let pages = Counter()
        world.next { request in
            request.method == .get && pages.next() == number ? [.lostResponse] : []
        }
    }

    private func expectEqual(_ world: SyncWorld, _ store: Store) async throws {
        let here = try await store.objects(Card.self).all().map(\.barcode).sorted()
        #expect(try here == world.texts("Card", "barcode"))
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
    }

    @Test(arguments: Plan.all)
    func `objects inserted and deleted during an interruption end as on the server`(plan: Plan) async throws {
        for page in 2...5 {
            let (world, store, sync) = try await makeWorld(plan)
            try await world.others.delete("Card", "c")
            world.clock.advance(by: 60)
            loseResponse(toPage: page, of: world)
            await #expect { try await sync.pull(Card.self) } throws: { ($0 as? SyncError)?.code == .unreachable }

            // The row that replaces the last one gets its number.
            try await world.others.delete("Card", "j")
            if plan.pullsBetween { try await sync.pull(Card.self, queryID: "cards") }
            world.clock.advance(by: 1)
            try await world.others.card("aa")
            if plan.pullsBetween { try await sync.pull(Card.self, queryID: "cards") }
            // The device deletes an object and creates one, which is before all others.
            let created = try await store.write { tx in
                try tx.delete(Card.self, localID: "a")
                return try tx.insert(Card(shop: "mine", barcode: "mine"))
            }
            try await sync.push()
            world.clock.advance(by: 1)
            try await world.others.card("b", barcode: "changed")
            try await world.others.delete("Card", "d")

            let result = try await sync.pull(Card.self)
            #expect(result.refusedRows.isEmpty)
            try await expectEqual(world, store)
            #expect(try store.object(ofType: Card.self, forPrimaryKey: created.localID)?.isSynced == true)
        }
    }

    @Test(arguments: Dialect.both)
    func `a resumed pull fetches the remaining pages`(dialect: Dialect) async throws {
        let plan = Plan(dialect: dialect, deletesSoftly: true, pullsBetween: false)
        let (world, store, sync) = try await makeWorld(plan)
        loseResponse(toPage: 4, of: world)
        await #expect { try await sync.pull(Card.self) } throws: { ($0 as? SyncError)?.code == .unreachable }
        world.forgetRequests()
        try await sync.pull(Card.self)
        let asked = world.requests.map { $0.removingPercentEncoding ?? $0 }
        // The count, two pages, an empty one, and the changes.
        #expect(asked.count == 5 && asked.filter { $0.contains("id gt 'f'") }.count == 1, "\(asked)")
        #expect(!asked.contains { $0.contains("id gt 'b'") || $0.contains("id gt 'd'") })
        try await expectEqual(world, store)
    }

    @Test(arguments: Dialect.both)
    func `an edit of a deleted object is dropped after a resumed pull, without a request`(
        dialect: Dialect
    ) async throws {
        let plan = Plan(dialect: dialect, deletesSoftly: false, pullsBetween: false)
        let (world, store, sync) = try await makeWorld(plan)
        try await store.write { tx in
            for id in ["a", "b", "i"] as [LocalID] { try tx.update(Card.self, localID: id) { $0.points = 7 } }
        }
        try await world.others.delete("Card", "a")
        try await world.others.delete("Card", "i")
        world.clock.advance(by: 60)
        loseResponse(toPage: 3, of: world)
        await #expect {
            try await sync.synchronize([PullQuery(Card.self)])
        } throws: {
            ($0 as? SyncError)?.code == .unreachable
        }
        world.forgetRequests()
        try await sync.synchronize([PullQuery(Card.self)])
        let writes = world.requests.filter { !$0.hasPrefix("GET") }
        #expect(writes.count == 1 && writes.allSatisfy { $0.lowercased().contains("card/b") }, "\(world.requests)")
        try await expectEqual(world, store)
        #expect(try store.object(ofType: Card.self, forPrimaryKey: "b")?.points == 7)
    }

    @Test func `refused rows are kept, and removed when the server deletes them`() async throws {
        let plan = Plan(dialect: .datasync, deletesSoftly: false, pullsBetween: false)
        let (world, store, sync) = try await makeWorld(plan)
        // Both have the unique value of another card.
        for id in ["ab", "ib"] as [ServerID] { try await world.others.card(id, barcode: "be") }
        world.clock.advance(by: 60)
        loseResponse(toPage: 3, of: world)
        await #expect { try await sync.pull(Card.self) } throws: { ($0 as? SyncError)?.code == .unreachable }
        var result = try await sync.pull(Card.self)
        #expect(result.refusedRows.map(\.serverID) == ["ab", "ib"])
        for id in ["ab", "ib"] as [ServerID] { try await world.others.delete("Card", id) }
        world.clock.advance(by: 60)
        loseResponse(toPage: 3, of: world)
        await #expect { try await sync.pull(Card.self) } throws: { ($0 as? SyncError)?.code == .unreachable }
        result = try await sync.pull(Card.self)
        result = try await sync.pull(Card.self)
        #expect(result.refusedRows.isEmpty)
        try await expectEqual(world, store)
    }
}
