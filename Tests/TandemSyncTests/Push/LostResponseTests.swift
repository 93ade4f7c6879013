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
        ("request lost", RemoteFault.loseRequest), ("answer lost", .loseAnswer), ("twice", .deliverTwice),
        ("late", .deliverLate(after: 1)), ("no body", .answerWithoutBody),
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
        let desk = try Desk(ids: entry.ids, softDelete: entry.softDelete)
        let id =
            change == .insert
            ? try await desk.store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
            : try await desk.syncedCard().localID
        try await desk.store.write { tx in
            if change == .update { try tx.update(Card.self, localID: id) { $0.points = 2 } }
            if change == .delete { try tx.delete(Card.self, localID: id) }
        }
        desk.remote.next(entry.fault)
        _ = try await desk.sync.attemptPush()
        try await desk.store.write { tx in
            switch meanwhile {
            case .nothing: break
            case .edit: try tx.update(Card.self, localID: id) { ($0.points, $0.nickname) = (3, "н") }
            case .delete: try tx.delete(Card.self, localID: id)
            }
        }
        let context = try desk.restarted()
        for _ in 1...2 { _ = try await context.attemptPush() }
        let comment = Comment("\(change) \(meanwhile)")
        #expect(try desk.isLevel(), comment)
        let isGone = change == .delete || meanwhile == .delete
        #expect(desk.remote.items(in: "Card").count == (isGone ? 0 : 1), comment)
        let points: Int64 = meanwhile == .edit ? 3 : change == .update ? 2 : 1
        if !isGone { #expect(desk.remote.items(in: "Card")[0][member: "points"] == .integer(points), comment) }
    }

    /// FB 1: the temporary row and the server's row are both visible.
    @Test(arguments: [ScriptedRemote.IDs.client, .server])
    func `an insert with a lost response is shown once`(ids: ScriptedRemote.IDs) async throws {
        let desk = try Desk(ids: ids)
        let seen = Mutex<[[Int]]>([])
        let subscription = desk.store.objects(Card.self).changesetPublisher.sink(
            receiveCompletion: { _ in },
            receiveValue: { change in
                seen.withLock { $0.append([change.insertions.count, change.deletions.count, change.results.count]) }
            })
        desk.remote.next(.loseAnswer)
        try await desk.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        try await desk.sync.attemptPush()
        // A pull fetches the object of the lost insert.
        try await desk.receiveAll()
        try await desk.sync.attemptPush()
        try await desk.receiveAll()
        #expect(try desk.isLevel())
        let changes = seen.withLock { $0 }
        #expect(changes.allSatisfy { $0[2] <= 1 && $0[1] == 0 } && changes.map { $0[0] }.reduce(0, +) == 1)
        subscription.cancel()
    }

    /// Even without a lookup property, a pull merges both into one object.
    @Test func `a pulled object of a lost insert is merged with it`() async throws {
        let desk = try Desk(ids: .server)
        let id = try await desk.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }.localID
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        try await desk.receiveAll()
        #expect(try await desk.sync.attemptPush().entries.map(\.outcome.name) == ["adopted"])
        #expect(try desk.card(id)?.serverID == "s1" && desk.isLevel())
    }

    /// A server that makes the IDs is queried before a second insert, never after.
    @Test func `an insert is looked up before it is sent again`() async throws {
        let desk = try Desk(ids: .server)
        try await desk.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        desk.remote.forgetRequests()
        #expect(try await desk.sync.attemptPush().entries.map(\.outcome.name) == ["adopted"])
        #expect(desk.asked == [.find])
    }

    /// FB 6: a record edited while it is pushed is marked as synced.
    @Test(arguments: Change.allCases)
    func `an edit during a request stays pending on the new version`(change: Change) async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        let id = card.localID
        let fresh = try await desk.store.write { tx in
            if change == .insert { return try tx.insert(Card(shop: "Магнит", barcode: "2")).localID }
            if change == .update { try tx.update(Card.self, localID: id) { $0.points = 2 } }
            if change == .delete { try tx.delete(Card.self, localID: id) }
            return id
        }
        let store = desk.store
        let bump: @Sendable () async -> Void = {
            _ = try? await store.write { tx in
                if try tx.object(ofType: Card.self, forPrimaryKey: fresh) == nil {
                    try tx.undelete(Card.self, localID: fresh)
                }
                try tx.update(Card.self, localID: fresh) { $0.points += 10 }
            }
        }
        // Continuous edits do not keep the push running: they are sent once more, then left.
        for _ in 0..<5 { desk.remote.next(.meanwhile(bump)) }
        let result = try await desk.sync.attemptPush()
        #expect(result.entries.map(\.outcome.name) == ["stillPending"])
        #expect(desk.asked.filter { $0 != .find }.count == 2)
        let operation = try #require(try desk.operation)
        #expect(operation.state == .pending && !operation.changedProperties.isEmpty)
        #expect(try desk.card(fresh)?.version == desk.served(desk.card(fresh)?.serverID)?.version)
        try await desk.restarted().attemptPush()
        try await desk.restarted().attemptPush()
        try await desk.restarted().attemptPush()
        #expect(try desk.isLevel())
    }

    /// A late response to an operation that was sent again meanwhile is dropped.
    @Test func `a response to an ended attempt changes nothing`() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await desk.store.write { try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        let (store, id) = (desk.store, try #require(try desk.operation?.id))
        desk.remote.next(.meanwhile { _ = try? await store.write { try $0.beginAttempt(id) } })
        #expect(try await desk.sync.attemptPush().entries.map(\.outcome.name) == ["stillPending"])
        #expect(try desk.operation?.state == .attempted)
        #expect(try await desk.sync.attemptPush().entries.map(\.outcome.name) == ["adopted"])
        #expect(try desk.isLevel())
    }

    @Test func `the response to an operation that was held during its request counts`() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await desk.store.write { try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        let (sync, id) = (desk.sync, try #require(try desk.operation?.id))
        desk.remote.next(.meanwhile { try? await sync.hold(id) })
        #expect(try await desk.sync.attemptPush().entries.map(\.outcome.name) == ["done"])
        #expect(try desk.operation == nil)
        #expect(try desk.isLevel())
    }

    /// An undelete after a delete with a lost response, whether it arrived or not.
    @Test(arguments: [RemoteFault.loseAnswer, .loseRequest].indices, [true, false])
    func `an undelete after a lost delete restores the object`(fault: Int, takesValues: Bool) async throws {
        let desk = try Desk(undeletesWithValues: takesValues)
        let card = try await desk.syncedCard()
        try await desk.store.write { try $0.delete(Card.self, localID: card.localID) }
        desk.remote.next([RemoteFault.loseAnswer, .loseRequest][fault])
        try await desk.sync.attemptPush()
        try await desk.store.write { tx in
            try tx.undelete(Card.self, localID: card.localID)
            try tx.update(Card.self, localID: card.localID) { $0.points = 9 }
        }
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(card.localID)?.points == 9)
    }

    /// The same, if the server stores nothing of deleted objects.
    @Test func `an undelete after a hard delete inserts the object again`() async throws {
        let desk = try Desk(softDelete: false)
        let card = try await desk.syncedCard()
        try await desk.store.write { try $0.delete(Card.self, localID: card.localID) }
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        try await desk.store.write { _ = try $0.undelete(Card.self, localID: card.localID) }
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.remote.items(in: "Card").count == 1)
    }

    /// DS T2: a late insert must not restore an object deleted here.
    @Test func `a delete of a lost insert leaves no orphan`() async throws {
        let desk = try Desk()
        let id = try await desk.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }.localID
        desk.remote.next(.deliverLate(after: 3))
        try await desk.sync.attemptPush()
        try await desk.store.write { try $0.delete(Card.self, localID: id) }
        #expect(try await desk.sync.push().isComplete)
        // The late insert arrives only now.
        _ = try await desk.remote.find("Card", key: .id("x"))
        #expect(try desk.remote.items(in: "Card").isEmpty && (desk.isLevel()))
    }

    /// The object of a lost insert was pulled and edited by others. The delete conflicts with that, and does not remove
    /// it silently.
    @Test(arguments: [true, false], [true, false])
    func `a delete of a lost insert conflicts with others' edits`(softDelete: Bool, isEdited: Bool) async throws {
        let desk = try Desk(softDelete: softDelete)
        try desk.sync.table(Card.self).setConflicts(.report)
        let id = try await desk.store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        if isEdited { desk.remote.edit("Card", id: ServerID(id.rawValue)) { $0.set(.integer(9), of: "points") } }
        try await desk.store.write { try $0.delete(Card.self, localID: id) }
        // A repeated insert would even be rejected.
        if softDelete { desk.remote.next(.fail(.refused(status: 422, message: "no")), on: .insert) }
        let result = try await desk.sync.attemptPush()
        #expect(result.entries.map(\.outcome.name) == [isEdited ? "conflict" : "done"])
        #expect(desk.remote.items(in: "Card").map { $0[member: "points"] } == (isEdited ? [.integer(9)] : []))
        guard isEdited else { return }
        // The user decides to delete it.
        try await desk.sync.keepMine(result.entries[0].id)
        #expect(try await desk.sync.push().isComplete && desk.isLevel())
        #expect(desk.remote.items(in: "Card").isEmpty)
    }

    enum LocalEdit: CaseIterable, Sendable { case none, sameProperty, otherProperty }

    /// The values of an insert are older than others' edits of its object, although the device learns of both at once.
    @Test(arguments: [ScriptedRemote.IDs.client, .server], LocalEdit.allCases)
    func `others' edits of a lost insert's object are kept`(ids: ScriptedRemote.IDs, edit: LocalEdit) async throws {
        for isPulled in [true, false] {
            let desk = try Desk(ids: ids)
            let card = Card(shop: "Лента", barcode: "1", points: 1)
            let id = try await desk.store.write { try $0.insert(card) }.localID
            desk.remote.next(.loseAnswer)
            try await desk.sync.attemptPush()
            let serverID = try #require(desk.remote.items(in: "Card").first?.id)
            desk.remote.edit("Card", id: serverID) { $0.set(.integer(9), of: "points") }
            try await desk.store.write { tx in
                switch edit {
                case .none: break
                case .sameProperty: try tx.update(Card.self, localID: id) { $0.points = 5 }
                case .otherProperty: try tx.update(Card.self, localID: id) { $0.nickname = "н" }
                }
            }
            if isPulled { try await desk.receiveAll() }
            #expect(try await desk.sync.push().isComplete)
            let items = desk.remote.items(in: "Card")
            #expect(items.map { $0[member: "points"] } == [.integer(edit == .sameProperty ? 5 : 9)])
            if edit == .otherProperty { #expect(items.first?[member: "nickname"] == .text("н")) }
            try await desk.receiveAll()
            #expect(try desk.isLevel())
        }
    }

    /// Another client can create an object with the same natural key.
    @Test func `object with the natural key of a lost insert is a conflict`() async throws {
        let desk = try Desk()
        let card = Card(shop: "Лента", barcode: "1", points: 1).identified(by: "4601234567893")
        try await desk.store.write { _ = try $0.insert(card) }
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        desk.remote.edit("Card", id: "4601234567893") { $0.set(.integer(9), of: "points") }
        #expect(try await desk.sync.push().isComplete)
        #expect(desk.remote.items(in: "Card").map { $0[member: "points"] } == [.integer(1)])
    }

    /// To delete the object of a lost insert, the insert is sent once more, and that response is lost too. The sent
    /// values are ours, whatever the local values are by then.
    @Test func `values sent to delete a lost insert count as ours`() async throws {
        let desk = try Desk()
        let id = try await desk.store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        desk.remote.next(.loseRequest)
        try await desk.sync.attemptPush()
        try await desk.store.write { tx in
            try tx.update(Card.self, localID: id) { $0.points = 2 }
            try tx.delete(Card.self, localID: id)
        }
        desk.remote.next(.loseAnswer, on: .insert)
        try await desk.sync.attemptPush()
        #expect(desk.remote.items(in: "Card").count == 1)
        try await desk.store.write { tx in
            try tx.undelete(Card.self, localID: id)
            try tx.update(Card.self, localID: id) { $0.points = 3 }
            try tx.delete(Card.self, localID: id)
        }
        try desk.sync.table(Card.self).setConflicts(.report)
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.remote.items(in: "Card").isEmpty)
    }
}
