import Foundation
import OpenCombine
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// An object is created once, and no change is lost or executed twice, whatever happens to requests and responses.
@Suite(.ownThreads) struct LostResponseTests {
    enum Change: CaseIterable, Sendable { case insert, update, delete }
    enum Meanwhile: CaseIterable, Sendable { case nothing, edit, delete }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let fault: RemoteFault
        let ids: ScriptedRemote.IDs
        let softDelete: Bool
        var testDescription: String { "\(name), IDs by \(ids), \(softDelete ? "soft" : "hard")" }
    }

    static let cases: [Case] = [
        ("request lost", RemoteFault.loseRequest), ("response lost", .loseResponse), ("twice", .deliverTwice),
        ("late", .deliverLate(after: 1)), ("no body", .respondWithoutBody),
    ].flatMap { name, fault in
        [ScriptedRemote.IDs.client, .server].flatMap { ids in
            [true, false].map { Case(name: name, fault: fault, ids: ids, softDelete: $0) }
        }
    }.filter { entry in
        // If the server makes the IDs, no client can prevent a duplicate delivery of an insert. A late insert after a
        // hard delete makes an orphan.
        if entry.ids == .server, case .deliverTwice = entry.fault { return false }
        return true
    }

    /// DS T1, T2, T3, T19; FB 1, 6, 11.
    @Test(arguments: cases)
    func `every change is executed once`(entry: Case) async throws {
        for change in Change.allCases {
            for meanwhile in Meanwhile.allCases where change != .delete || meanwhile == .nothing {
                try await lose(entry, change, meanwhile)
            }
        }
    }

    private func lose(_ entry: Case, _ change: Change, _ meanwhile: Meanwhile) async throws {
        let fixture = try SyncFixture(ids: entry.ids, softDelete: entry.softDelete)
        let id =
            change == .insert
            ? try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
            : try await fixture.syncedCard().localID
        try await fixture.store.write { tx in
            if change == .update { try tx.update(Card.self, localID: id) { $0.points = 2 } }
            if change == .delete { try tx.delete(Card.self, localID: id) }
        }
        fixture.remote.next(entry.fault)
        _ = try await fixture.sync.attemptPush()
        try await fixture.store.write { tx in
            switch meanwhile {
            case .nothing: break
            case .edit: try tx.update(Card.self, localID: id) { ($0.points, $0.nickname) = (3, "н") }
            case .delete: try tx.delete(Card.self, localID: id)
            }
        }
        let context = try fixture.restarted()
        for _ in 1...2 { _ = try await context.attemptPush() }
        let comment = Comment("\(change) \(meanwhile)")
        #expect(try fixture.isLevel(), comment)
        let isGone = change == .delete || meanwhile == .delete
        #expect(fixture.remote.items(in: "Card").count == (isGone ? 0 : 1), comment)
        let points: Int64 = meanwhile == .edit ? 3 : change == .update ? 2 : 1
        if !isGone { #expect(fixture.remote.items(in: "Card")[0][member: "points"] == .integer(points), comment) }
    }

    /// FB 1: the temporary row and the server's row are both visible.
    @Test(arguments: [ScriptedRemote.IDs.client, .server])
    func `an insert with a lost response is shown once`(ids: ScriptedRemote.IDs) async throws {
        let fixture = try SyncFixture(ids: ids)
        let seen = Mutex<[[Int]]>([])
        let subscription = fixture.store.objects(Card.self).changesetPublisher.on(.immediate).sink(
            receiveCompletion: { _ in },
            receiveValue: { change in
                seen.withLock { $0.append([change.insertions.count, change.deletions.count, change.results.count]) }
            })
        fixture.remote.next(.loseResponse)
        try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        try await fixture.sync.attemptPush()
        // A pull fetches the object of the lost insert.
        try await fixture.receiveAll()
        try await fixture.sync.attemptPush()
        try await fixture.receiveAll()
        #expect(try fixture.isLevel())
        let changes = seen.withLock { $0 }
        #expect(changes.allSatisfy { $0[2] <= 1 && $0[1] == 0 } && changes.map { $0[0] }.reduce(0, +) == 1)
        subscription.cancel()
    }

    /// Even without a lookup property, a pull merges both into one object.
    @Test func `a pulled object of a lost insert is merged with it`() async throws {
        let fixture = try SyncFixture(ids: .server)
        let id = try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }.localID
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        try await fixture.receiveAll()
        #expect(try await fixture.sync.attemptPush().entries.map(\.outcome.name) == ["adopted"])
        #expect(try fixture.card(id)?.serverID == "s1" && fixture.isLevel())
    }

    /// A server that makes the IDs is queried before a second insert, never after.
    @Test func `an insert is looked up before it is sent again`() async throws {
        let fixture = try SyncFixture(ids: .server)
        try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        fixture.remote.forgetRequests()
        #expect(try await fixture.sync.attemptPush().entries.map(\.outcome.name) == ["adopted"])
        #expect(fixture.asked == [.find])
    }

    /// FB 6: a record edited while it is pushed is marked as synced.
    @Test(arguments: Change.allCases)
    func `an edit during a request stays pending on the new version`(change: Change) async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        let id = card.localID
        let fresh = try await fixture.store.write { tx in
            if change == .insert { return try tx.insert(Card(shop: "Магнит", barcode: "2")).localID }
            if change == .update { try tx.update(Card.self, localID: id) { $0.points = 2 } }
            if change == .delete { try tx.delete(Card.self, localID: id) }
            return id
        }
        let store = fixture.store
        let bump: @Sendable () async -> Void = {
            _ = try? await store.write { tx in
                if try tx.object(ofType: Card.self, forPrimaryKey: fresh) == nil {
                    try tx.undelete(Card.self, localID: fresh)
                }
                try tx.update(Card.self, localID: fresh) { $0.points += 10 }
            }
        }
        // Continuous edits do not keep the push running: they are sent once more, then left.
        for _ in 0..<5 { fixture.remote.next(.meanwhile(bump)) }
        let result = try await fixture.sync.attemptPush()
        #expect(result.entries.map(\.outcome.name) == ["stillPending"])
        #expect(fixture.asked.filter { $0 != .find }.count == 2)
        let operation = try #require(try fixture.operation)
        #expect(operation.state == .pending && !operation.changedProperties.isEmpty)
        #expect(try fixture.card(fresh)?.version == fixture.served(fixture.card(fresh)?.serverID)?.version)
        try await fixture.restarted().attemptPush()
        try await fixture.restarted().attemptPush()
        try await fixture.restarted().attemptPush()
        #expect(try fixture.isLevel())
    }

    /// A late response to an operation that was sent again meanwhile is dropped.
    @Test func `a response to an ended attempt changes nothing`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        let (store, id) = (fixture.store, try #require(try fixture.operation?.id))
        fixture.remote.next(.meanwhile { _ = try? await store.write { try $0.beginAttempt(id) } })
        #expect(try await fixture.sync.attemptPush().entries.map(\.outcome.name) == ["stillPending"])
        #expect(try fixture.operation?.state == .attempted)
        #expect(try await fixture.sync.attemptPush().entries.map(\.outcome.name) == ["adopted"])
        #expect(try fixture.isLevel())
    }

    @Test func `the response to an operation that was held during its request counts`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        let (sync, id) = (fixture.sync, try #require(try fixture.operation?.id))
        fixture.remote.next(.meanwhile { try? await sync.hold(id) })
        #expect(try await fixture.sync.attemptPush().entries.map(\.outcome.name) == ["done"])
        #expect(try fixture.operation == nil)
        #expect(try fixture.isLevel())
    }

    /// An undelete after a delete with a lost response, whether it arrived or not.
    @Test(arguments: [RemoteFault.loseResponse, .loseRequest].indices, [true, false])
    func `an undelete after a lost delete restores the object`(fault: Int, takesValues: Bool) async throws {
        let fixture = try SyncFixture(undeletesWithValues: takesValues)
        let card = try await fixture.syncedCard()
        try await fixture.store.write { try $0.delete(Card.self, localID: card.localID) }
        fixture.remote.next([RemoteFault.loseResponse, .loseRequest][fault])
        try await fixture.sync.attemptPush()
        try await fixture.store.write { tx in
            try tx.undelete(Card.self, localID: card.localID)
            try tx.update(Card.self, localID: card.localID) { $0.points = 9 }
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == 9)
    }

    /// The same, if the server stores nothing of deleted objects.
    @Test func `an undelete after a hard delete inserts the object again`() async throws {
        let fixture = try SyncFixture(softDelete: false)
        let card = try await fixture.syncedCard()
        try await fixture.store.write { try $0.delete(Card.self, localID: card.localID) }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        try await fixture.store.write { _ = try $0.undelete(Card.self, localID: card.localID) }
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.remote.items(in: "Card").count == 1)
    }

    /// DS T2: a late insert must not restore an object deleted here.
    @Test func `a delete of a lost insert leaves no orphan`() async throws {
        let fixture = try SyncFixture()
        let id = try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }.localID
        fixture.remote.next(.deliverLate(after: 3))
        try await fixture.sync.attemptPush()
        try await fixture.store.write { try $0.delete(Card.self, localID: id) }
        #expect(try await fixture.sync.push().isComplete)
        // The late insert arrives only now.
        _ = try await fixture.remote.find("Card", key: .id("x"))
        #expect(try fixture.remote.items(in: "Card").isEmpty && (fixture.isLevel()))
    }

    /// The object of a lost insert was pulled and edited by others. The delete conflicts with that, and does not remove
    /// it silently.
    @Test(arguments: [true, false], [true, false])
    func `a delete of a lost insert conflicts with others' edits`(softDelete: Bool, isEdited: Bool) async throws {
        let fixture = try SyncFixture(softDelete: softDelete)
        try fixture.sync.table(Card.self).setConflicts(.report)
        let id = try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        if isEdited { fixture.remote.edit("Card", id: ServerID(id.rawValue)) { $0.set(.integer(9), of: "points") } }
        try await fixture.store.write { try $0.delete(Card.self, localID: id) }
        // A repeated insert would even be rejected.
        if softDelete { fixture.remote.next(.fail(.refused(status: 422, message: "no")), on: .insert) }
        let result = try await fixture.sync.attemptPush()
        #expect(result.entries.map(\.outcome.name) == [isEdited ? "conflict" : "done"])
        #expect(fixture.remote.items(in: "Card").map { $0[member: "points"] } == (isEdited ? [.integer(9)] : []))
        guard isEdited else { return }
        // The user decides to delete it.
        try await fixture.sync.keepMine(result.entries[0].id)
        #expect(try await fixture.sync.push().isComplete && fixture.isLevel())
        #expect(fixture.remote.items(in: "Card").isEmpty)
    }

    enum LocalEdit: CaseIterable, Sendable { case none, sameProperty, otherProperty }

    /// The values of an insert are older than other devices' edits of its object. The device nevertheless learns of
    /// both at once.
    @Test(arguments: [ScriptedRemote.IDs.client, .server], LocalEdit.allCases)
    func `others' edits of a lost insert's object are kept`(ids: ScriptedRemote.IDs, edit: LocalEdit) async throws {
        for isPulled in [true, false] {
            let fixture = try SyncFixture(ids: ids)
            let card = Card(shop: "Лента", barcode: "1", points: 1)
            let id = try await fixture.store.write { try $0.insert(card) }.localID
            fixture.remote.next(.loseResponse)
            try await fixture.sync.attemptPush()
            let serverID = try #require(fixture.remote.items(in: "Card").first?.id)
            fixture.remote.edit("Card", id: serverID) { $0.set(.integer(9), of: "points") }
            try await fixture.store.write { tx in
                switch edit {
                case .none: break
                case .sameProperty: try tx.update(Card.self, localID: id) { $0.points = 5 }
                case .otherProperty: try tx.update(Card.self, localID: id) { $0.nickname = "н" }
                }
            }
            if isPulled { try await fixture.receiveAll() }
            #expect(try await fixture.sync.push().isComplete)
            let items = fixture.remote.items(in: "Card")
            #expect(items.map { $0[member: "points"] } == [.integer(edit == .sameProperty ? 5 : 9)])
            if edit == .otherProperty { #expect(items.first?[member: "nickname"] == .text("н")) }
            try await fixture.receiveAll()
            #expect(try fixture.isLevel())
        }
    }

    /// Another client can create an object with the same natural key.
    @Test func `object with the natural key of a lost insert is a conflict`() async throws {
        let fixture = try SyncFixture()
        let card = Card(shop: "Лента", barcode: "1", points: 1).identified(by: "4601234567893")
        try await fixture.store.write { _ = try $0.insert(card) }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        fixture.remote.edit("Card", id: "4601234567893") { $0.set(.integer(9), of: "points") }
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.remote.items(in: "Card").map { $0[member: "points"] } == [.integer(1)])
    }

    /// To delete the object of a lost insert, the insert is sent once more, and that response is lost too. The sent
    /// values are ours, whatever the local values are by then.
    @Test func `values sent to delete a lost insert count as ours`() async throws {
        let fixture = try SyncFixture()
        let id = try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        fixture.remote.next(.loseRequest)
        try await fixture.sync.attemptPush()
        try await fixture.store.write { tx in
            try tx.update(Card.self, localID: id) { $0.points = 2 }
            try tx.delete(Card.self, localID: id)
        }
        fixture.remote.next(.loseResponse, on: .insert)
        try await fixture.sync.attemptPush()
        #expect(fixture.remote.items(in: "Card").count == 1)
        try await fixture.store.write { tx in
            try tx.undelete(Card.self, localID: id)
            try tx.update(Card.self, localID: id) { $0.points = 3 }
            try tx.delete(Card.self, localID: id)
        }
        try fixture.sync.table(Card.self).setConflicts(.report)
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.remote.items(in: "Card").isEmpty)
    }
}
