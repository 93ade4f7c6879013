import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The local version proves that no other client changed the object, even if the targets of its references changed.
@Suite(.ownThreads) struct KnownVersionTests {
    @Test(arguments: [StoreScene.Kind.tandem, .memory])
    func `a known version is not another client's change`(kind: StoreScene.Kind) async throws {
        let stage = try StoreScene(kind)
        stage.card("k", "1")
        try await stage.pull(nil)
        try await stage.write { try $0.change("k", in: "Card", to: ["points": 2]) }
        let forms = stage.sync.coder(of: try stage.sync.settings(of: "Card"))
        let there = try #require(stage.remote.items(in: "Card").first)
        func sides(version: String?) async throws -> ConflictSides {
            var item = there
            item.version = version
            item.set(.text("Дикси"), of: "shop")
            let stored = try forms.decode(item)
            return try await stage.store.write { local in
                guard let operation = try local.operation(on: "k", in: "Card") else { throw Missing() }
                return try local.sides(of: operation.id, against: stored, rounding: forms.rounding)
            }
        }
        let known = try await sides(version: there.version)
        #expect(!known.isConflict && known.changedThere.isEmpty && known.changedHere == ["points"])
        for version in ["v999", nil] {
            let other = try await sides(version: version)
            #expect(other.isConflict && other.changedThere == ["shop"] && other.changedHere == ["points"])
        }
    }

    private struct Missing: Error {}

    /// The target of a card's reference is deleted on the server, before or after the card is deleted here. The card is
    /// unchanged on the server, so its delete is not a conflict.
    @Test(arguments: [true, false], [ScriptedRemote.IDs.client, .server])
    func `a delete does not conflict with the delete of its reference's target`(
        isDeletedFirst: Bool, ids: ScriptedRemote.IDs
    ) async throws {
        let fixture = try SyncFixture(ids: ids)
        try fixture.sync.table(Card.self).setConflicts(.report)
        let (person, card) = try await fixture.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            return (person, try tx.insert(Card(shop: "Лента", barcode: "1", owner: person.reference)))
        }
        #expect(try await fixture.sync.push().isComplete)
        if isDeletedFirst { try await fixture.store.write { _ = try $0.delete(Card.self, localID: card.localID) } }
        let there = try fixture.store.object(ofType: Person.self, forPrimaryKey: person.localID)?.serverID
        fixture.remote.remove("Person", id: try #require(there))
        try await fixture.sync.pull(Person.self)
        #expect(try await fixture.store.objects(Person.self).count() == 0)
        if !isDeletedFirst { try await fixture.store.write { _ = try $0.delete(Card.self, localID: card.localID) } }
        // The delete is refused once. The item found then is known.
        fixture.remote.next(.fail(.conflict(status: 409, item: nil)), on: .delete)
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["done"])
        #expect(try fixture.remote.items(in: "Card").isEmpty && fixture.isLevel())
    }
}
