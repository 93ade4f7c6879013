import Foundation
import Tandem
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// The code of the article on conflicts, compiled and run. The lines between the markers equal the article's.
@Suite(.ownThreads) struct ConflictsArticleTests {
    @Model struct Card {
        @Folded var shop: String
        var points = 0
    }

    private let store: Store
    private let remote = ScriptedRemote()
    private let sync: SyncContext

    init() throws {
        store = try Store.inMemory(models: Card.self)
        sync = SyncContext(store: store, remote: remote)
    }

    /// The card gets 5 points more here, and 7 there.
    private func bothAddPoints(to id: ServerID = "a", alsoThere: (inout RemoteItem) -> Void = { _ in }) async throws {
        remote.edit("Card", id: id) { $0.members = [("shop", .text("Лента")), ("points", .integer(10))] }
        try await sync.pull(Card.self, queryID: "cards")
        try await store.write { _ = try $0.update(Card.self, localID: LocalID(id.rawValue)) { $0.points += 5 } }
        remote.edit("Card", id: id) { item in
            item.set(.integer(17), of: "points")
            alsoThere(&item)
        }
    }

    private func points(_ id: LocalID = "a") throws -> Int? {
        try store.object(ofType: Card.self, forPrimaryKey: id)?.points
    }

    @Test func `a table has its own policy`() async throws {
        // Conflicts begins
        try sync.table(Card.self).setConflicts(.merge(edits: .server, deletes: .editWins))
        // Conflicts ends
        try await bothAddPoints()
        try await sync.push()
        #expect(try points() == 17)
    }

    @Test func `a resolver adds both sides' points`() async throws {
        // Conflicts begins
        try sync.table(Card.self).setConflicts(
            .resolve { conflict in
                guard var card = conflict.local, let theirs = conflict.server, let base = conflict.base else {
                    return .merge
                }
                card.points += theirs.points - base.points
                return .send(card)
            })
        // Conflicts ends
        try await bothAddPoints()
        #expect(try await sync.push().isComplete)
        #expect(try points() == 22)
        #expect(remote.items(in: "Card")[0][member: "points"] == .integer(22))
        // Other changes there are not overwritten.
        try await bothAddPoints(to: "b") { $0.set(.text("Магнит"), of: "shop") }
        #expect(try await sync.push().isComplete)
        let card = try #require(try store.object(ofType: Card.self, forPrimaryKey: "b"))
        #expect(card.shop == "Магнит" && card.points == 22)
    }

    /// The closure need not check other changes.
    @Test func `properties that the app leaves unchanged keep the server's values`() async throws {
        try sync.table(Card.self).setConflicts(.resolve { conflict in conflict.local.map { .send($0) } ?? .merge })
        try await bothAddPoints { $0.set(.text("Магнит"), of: "shop") }
        #expect(try await sync.push().isComplete)
        #expect(remote.items(in: "Card")[0][member: "shop"] == .text("Магнит"))
        #expect(try points() == 15)
    }

    @Test func `the user sees failed operations and decides`() async throws {
        try sync.table(Card.self).setConflicts(.report)
        try await bothAddPoints(to: "a")
        try await bothAddPoints(to: "b")
        try await sync.push()
        let printed = Synchronized<[String]>([])
        func print(_ values: Any...) { printed.change { $0.append("\(values)") } }
        // Conflicts begins
        for failed in try await sync.failedOperations() {
            print(failed.operation.model, failed.message)
            print(failed.isConflict ? "theirs: \(failed.serverValues ?? [:])" : "refused with \(failed.status ?? 0)")
        }
        // Conflicts ends
        #expect(printed.value.count == 4 && printed.value.contains { $0.contains("theirs") })
        let failed = try await sync.failedOperations()
        let (first, second) = (try #require(failed.first), try #require(failed.last))
        // Conflicts begins
        try await sync.keepMine(first.version)
        let lost = try await sync.takeServers(second.version)
        // Conflicts ends
        #expect(lost == ["points": 15])
        #expect(try await sync.push().isComplete)
        #expect(try points("a") == 15 && points("b") == 17)
    }

    @Test func `the user chooses the value of each property`() async throws {
        try sync.table(Card.self).setConflicts(.report)
        try await bothAddPoints { $0.set(.text("Магнит"), of: "shop") }
        try await sync.push()
        let first = try #require(try await sync.failedOperations().first)
        // Conflicts begins
        try await sync.resolve(first.version, choosing: ["points": .base, "shop": .server])
        // Conflicts ends
        #expect(try await sync.push().isComplete)
        let card = try #require(try store.object(ofType: Card.self, forPrimaryKey: "a"))
        #expect(card.points == 10 && card.shop == "Магнит" && card.isSynced)
    }

    /// With the default policy a push reports the edit, and a whole sync drops it.
    @Test(arguments: [true, false])
    func `an edit of a deleted object is reported by a push and dropped by a sync`(fetchesFirst: Bool) async throws {
        try await bothAddPoints()
        remote.remove("Card", id: "a")
        if fetchesFirst {
            #expect(try await sync.synchronize().lostEdits.map(\.values) == [["points": 15]])
            #expect(try points() == nil)
        } else {
            #expect(try await sync.push().failedOperations.count == 1)
            #expect(try points() == 15)
        }
    }

    @Test func `the article's code equals the tested code`() throws {
        try Snippets.expectTested("Conflicts", of: "TandemSync", in: #filePath)
    }
}
