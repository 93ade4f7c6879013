import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// An object that was deleted, restored and deleted again stays deleted, even if the undelete arrives only then.
@Suite(.ownThreads) struct LostUndeleteTests {
    /// A card in that state, with nothing sent since the undelete.
    ///
    /// - Parameter after: The number of the request with which the undelete arrives.
    private func lost(_ desk: Desk, after: Int = 20) async throws -> Card {
        try report(desk.sync)
        let card = try await desk.syncedCard()
        try await desk.store.write { try $0.delete(Card.self, card.localID) }
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        try await desk.store.write { tx in
            try tx.undelete(Card.self, card.localID)
            try tx.update(Card.self, card.localID) { $0.points = 2 }
        }
        // The first undelete has the version before the delete, and is refused.
        desk.remote.next(.meanwhile {}, on: .undelete)
        desk.remote.next(.deliverLate(after: after), on: .undelete)
        try await desk.sync.attemptPush()
        #expect(desk.asked == [.delete, .undelete, .undelete])
        try await desk.store.write { try $0.delete(Card.self, card.localID) }
        desk.remote.forgetRequests()
        return card
    }

    /// Makes conflicts with other clients' changes visible.
    private func report(_ context: SyncContext) throws { try context.table(Card.self).setConflicts(.report) }

    /// Delivers the requests in flight.
    private func arrive(_ desk: Desk) async throws {
        for _ in 1...25 { _ = try await desk.remote.find("Card", .id("x")) }
    }

    private func isGone(_ desk: Desk) throws -> Bool { try desk.isLevel() && desk.remote.items(in: "Card").isEmpty }

    // MARK: The time of arrival

    @Test(arguments: [true, false])
    func `a delete after a lost undelete gives the tombstone another version`(takesValues: Bool) async throws {
        let desk = try Desk(undeletesWithValues: takesValues)
        _ = try await lost(desk)
        #expect(try await desk.sync.attemptPush().entries.map(\.outcome.name) == ["done"])
        #expect(desk.asked == [.delete, .undelete, .delete])
        try await arrive(desk)
        #expect(try isGone(desk))
    }

    /// Before, between, and after all requests of the delete.
    @Test(arguments: 1...6, [true, false])
    func `an object stays deleted whenever the undelete arrives`(after: Int, takesValues: Bool) async throws {
        let desk = try Desk(undeletesWithValues: takesValues)
        _ = try await lost(desk, after: after)
        #expect(try await desk.sync.push().isComplete)
        try await arrive(desk)
        #expect(try isGone(desk))
    }

    @Test func `a pull restores nothing`() async throws {
        let desk = try Desk()
        let card = try await lost(desk)
        #expect(try await desk.sync.push().isComplete)
        try await arrive(desk)
        #expect(try await desk.sync.pull(Card.self).inserted == 0)
        #expect(try desk.card(card.localID) == nil)
    }

    /// No undelete was sent that could arrive late, so one request is enough.
    @Test func `a delete after a lost delete is one request`() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await desk.store.write { try $0.delete(Card.self, card.localID) }
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        #expect(try await desk.sync.push().isComplete && desk.asked == [.delete, .delete])
        #expect(try isGone(desk))
    }

    // MARK: Faults meanwhile

    @Test(arguments: PushCrashTests.Place.allCases, [1, 2, 3, 20])
    func `a push that crashes leaves the object deleted`(place: PushCrashTests.Place, after: Int) async throws {
        for takesValues in [true, false] {
            for count in 1...2 {
                let desk = try Desk(undeletesWithValues: takesValues)
                _ = try await lost(desk, after: after)
                let steps = Counter()
                let dying = try desk.restarted { options in
                    options.onPushStep = { step in
                        if place.isAt(step), steps.next() == count { throw PushCrashTests.Killed() }
                    }
                }
                try report(dying)
                do { _ = try await dying.attemptPush() } catch is PushCrashTests.Killed {}
                #expect(try desk.store.checkIntegrity() == [])
                let context = try desk.restarted()
                try report(context)
                #expect(try await context.push().isComplete, "\(count) \(takesValues)")
                try await arrive(desk)
                #expect(try isGone(desk), "\(count) \(takesValues)")
            }
        }
    }

    /// The requests of a delete, by their kinds and numbers.
    enum Request: CaseIterable, Sendable {
        case delete, undelete, secondDelete

        func goesWrong(_ desk: Desk, _ fault: RemoteFault) {
            if self == .secondDelete { desk.remote.next(.meanwhile {}, on: .delete) }
            desk.remote.next(fault, on: self == .undelete ? .undelete : .delete)
        }
    }

    @Test(arguments: Request.allCases, [true, false])
    func `a lost request is repeated`(request: Request, takesValues: Bool) async throws {
        let faults: [RemoteFault] = [
            .loseRequest, .loseAnswer, .deliverTwice, .deliverLate(after: 1), .deliverLate(after: 3),
            .fail(.unreachable), .fail(.later(status: 503, retryAfter: nil)),
            .fail(.unauthenticated(status: 401, underlying: nil)), .answerWithoutBody,
        ]
        for fault in faults {
            for after in isSoak ? [1, 2, 3, 4, 20] : [1, 3, 20] {
                let desk = try Desk(undeletesWithValues: takesValues)
                _ = try await lost(desk, after: after)
                request.goesWrong(desk, fault)
                try await desk.sync.attemptPush()
                let context = try desk.restarted()
                try report(context)
                #expect(try await context.push().isComplete, "\(fault) \(after)")
                try await arrive(desk)
                #expect(try isGone(desk), "\(fault) \(after)")
            }
        }
    }

    /// A server that rejects the undelete does not execute a late one either.
    @Test func `a rejected undelete does not block the delete`() async throws {
        let desk = try Desk()
        _ = try await lost(desk)
        desk.remote.next(.fail(.refused(status: 403, message: "")), on: .undelete)
        #expect(try await desk.sync.push().isComplete && desk.asked == [.delete, .undelete])
        #expect(try isGone(desk))
    }

    /// The object exists now, and is to be deleted. The user must know that.
    @Test func `a rejected second delete waits for the user`() async throws {
        let desk = try Desk()
        _ = try await lost(desk)
        Request.secondDelete.goesWrong(desk, .fail(.refused(status: 403, message: "")))
        #expect(try await desk.sync.attemptPush().entries.map(\.outcome.name) == ["refused"])
        try await desk.sync.retry(try #require(try desk.operation?.id))
        #expect(try await desk.sync.push().isComplete)
        try await arrive(desk)
        #expect(try isGone(desk))
    }

    /// The values that the delete has sent come back, and differ from the local values by then.
    @Test func `values sent for a delete count as ours`() async throws {
        let desk = try Desk()
        let card = try await lost(desk)
        for points in [3, 4] {
            try await desk.store.write { tx in
                try tx.undelete(Card.self, card.localID)
                try tx.update(Card.self, card.localID) { $0.points = points }
                try tx.delete(Card.self, card.localID)
            }
            guard points == 3 else { break }
            desk.remote.next(.loseAnswer, on: .undelete)
            try await desk.sync.attemptPush()
            #expect(desk.remote.items(in: "Card").first?[member: "points"] == .integer(3))
        }
        #expect(try await desk.sync.push().isComplete)
        #expect(try isGone(desk))
    }

    // MARK: Other devices

    enum Other: CaseIterable, Sendable { case edits, deletes }

    /// Another device restores it with a change, or deletes it, just before each request.
    @Test(arguments: Request.allCases, Other.allCases)
    func `other devices' changes meanwhile stay`(request: Request, other: Other) async throws {
        for takesValues in [true, false] {
            for after in isSoak ? [1, 2, 3, 4, 20] : [1, 3, 20] {
                let desk = try Desk(undeletesWithValues: takesValues)
                let comment = Comment("\(takesValues) \(after)")
                let card = try await lost(desk, after: after)
                request.goesWrong(
                    desk,
                    .conflict { item in
                        item.isDeleted = other == .deletes
                        item.set(.integer(7), of: "points")
                    })
                let outcomes = try await desk.sync.attemptPush().entries.map(\.outcome.name)
                // If the late undelete arrives first, the object exists, and no undelete is needed.
                let isMet = request != .undelete || after > 1
                if other == .edits, isMet {
                    #expect(outcomes == ["conflict"], comment)
                    #expect(try desk.served(card.serverID)?[member: "points"] == .integer(7), comment)
                    #expect(try desk.served(card.serverID)?.isDeleted == false, comment)
                    try await desk.sync.keepMine(try #require(try desk.operation?.id))
                    #expect(try await desk.sync.push().isComplete, comment)
                }
                #expect(try desk.operation == nil, comment)
                try await arrive(desk)
                #expect(try isGone(desk), comment)
            }
        }
    }

    /// A server that does not accept values restores others' changes from before their delete. Their delete agrees with
    /// the user's.
    @Test(arguments: [true, false])
    func `others' delete is not a conflict if our undelete restored the object`(isEdited: Bool) async throws {
        let desk = try Desk(undeletesWithValues: false)
        try report(desk.sync)
        let card = try await desk.syncedCard()
        let id = try #require(card.serverID)
        try await desk.store.write { try $0.delete(Card.self, card.localID) }
        desk.remote.next(.loseRequest)
        try await desk.sync.attemptPush()
        desk.remote.edit("Card", id) { $0.set(.integer(7), of: "points") }
        desk.remote.remove("Card", id)
        try await desk.store.write { _ = try $0.undelete(Card.self, card.localID) }
        desk.remote.next(.meanwhile {}, on: .undelete)
        desk.remote.next(.loseAnswer, on: .undelete)
        try await desk.sync.attemptPush()
        #expect(try desk.served(id)?.isDeleted == false)
        if isEdited { desk.remote.edit("Card", id) { $0.set(.text("н"), of: "nickname") } }
        try await desk.store.write { try $0.delete(Card.self, card.localID) }
        let entries = try await desk.sync.attemptPush().entries
        #expect(entries.map(\.outcome.name) == [isEdited ? "conflict" : "done"], "\(entries)")
        #expect(try desk.served(id)?.isDeleted == !isEdited)
    }

    /// The item that a lookup finds differs from the undelete's result.
    @Test(arguments: [true, false], [true, false])
    func `others' changes before the lookup are a conflict`(isEdited: Bool, takesValues: Bool) async throws {
        let desk = try Desk(undeletesWithValues: takesValues)
        let card = try await lost(desk)
        desk.remote.next(.answerWithoutBody, on: .undelete)
        if isEdited { desk.remote.next(.conflict { $0.set(.integer(7), of: "points") }, on: .find) }
        let outcomes = try await desk.sync.attemptPush().entries.map(\.outcome.name)
        #expect(outcomes == [isEdited ? "conflict" : "done"])
        #expect(try desk.served(card.serverID)?.isDeleted == !isEdited)
    }

    // MARK: The user

    @Test(arguments: Request.allCases, [true, false])
    func `an object that is restored during its delete exists`(request: Request, takesValues: Bool) async throws {
        let desk = try Desk(undeletesWithValues: takesValues)
        let card = try await lost(desk)
        let (store, id) = (desk.store, card.localID)
        request.goesWrong(desk, .meanwhile { _ = try? await store.write { try $0.undelete(Card.self, id) } })
        try await desk.sync.attemptPush()
        try await desk.sync.attemptPush()
        try await arrive(desk)
        #expect(try desk.isLevel() && desk.card(id)?.points == 2)
    }

    /// A pull has fetched the tombstone that the delete aims at. The delete must be sent all the same.
    @Test func `a kept delete is sent even if a pull fetched a tombstone`() async throws {
        let desk = try Desk()
        _ = try await lost(desk)
        try await desk.receiveAll()
        let id = try #require(try desk.operation?.id)
        try await desk.sync.hold(id)
        try await desk.sync.keepMine(id)
        #expect(try desk.operation?.id == id)
        #expect(try await desk.sync.push().isComplete)
        try await arrive(desk)
        #expect(try isGone(desk))
    }

    /// The user's decision keeps the record of the undelete.
    @Test func `a decision over a tombstone keeps the record of the undelete`() async throws {
        let desk = try Desk()
        let card = try await lost(desk)
        try await desk.store.write { _ = try $0.undelete(Card.self, card.localID) }
        try await desk.receiveAll()
        let id = try #require(try desk.operation?.id)
        try await desk.sync.hold(id)
        try await desk.sync.keepMine(id)
        try await desk.store.write { _ = try $0.delete(Card.self, card.localID) }
        try await desk.sync.retry(id)
        #expect(try await desk.sync.push().isComplete)
        try await arrive(desk)
        #expect(try isGone(desk))
    }
}

/// The same in both dialects.
@Suite(.ownThreads) struct LostUndeleteDialectTests {
    private static func isUndelete(_ request: HTTPRequest) -> Bool {
        let path = request.path ?? ""
        return request.method == .put && path.contains("__includedeleted=true")
            || request.method == .post && path.split(separator: "/").count == 3
    }

    /// - Parameter isInFlight: Whether it is restored during its delete. The server's response to that has no version
    ///   in one dialect.
    @Test(arguments: Dialect.both, [true, false])
    func `a late undelete finds another version`(dialect: Dialect, isInFlight: Bool) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try sync.table(Card.self).setConflicts(.report)
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        try await sync.attemptPush()
        try await store.write { _ = try $0.delete(Card.self, id) }
        let undeletes = Counter()
        if isInFlight {
            world.next { request in
                guard request.method == .delete else { return [] }
                _ = try? store.write { try $0.undelete(Card.self, id) }
                return [.latency(.zero)]
            }
        } else {
            world.next(.delete, .lostAnswer)
            try await sync.attemptPush()
            try await store.write { _ = try $0.undelete(Card.self, id) }
        }
        // The first undelete on the tombstone's version.
        world.delay { Self.isUndelete($0) && undeletes.next() == (isInFlight ? 1 : 2) }
        try await sync.attemptPush()
        try await store.write { _ = try $0.delete(Card.self, id) }
        #expect(try world.live("card").isEmpty)
        #expect(try await sync.push().isComplete && store.operations.count() == 0)
        for _ in 1...2 { #expect(await world.deliverLate() == [412]) }
        #expect(try world.live("card").isEmpty && store.checkIntegrity() == [])
        #expect(try await sync.pull(Card.self).inserted == 0)
    }

    /// It arrives during the delete: before each request, and after each.
    @Test(arguments: Dialect.both, 1...6)
    func `an object stays deleted whenever the undelete arrives`(dialect: Dialect, place: Int) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try sync.table(Card.self).setConflicts(.report)
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        try await sync.attemptPush()
        try await store.write { _ = try $0.delete(Card.self, id) }
        world.next(.delete, .lostAnswer)
        try await sync.attemptPush()
        try await store.write { tx in
            try tx.undelete(Card.self, id)
            try tx.update(Card.self, id) { $0.points = 2 }
        }
        let undeletes = Counter()
        world.delay { Self.isUndelete($0) && undeletes.next() == 2 }
        try await sync.attemptPush()
        try await store.write { _ = try $0.delete(Card.self, id) }
        world.deliverLate(besideMessage: place)
        #expect(try await sync.push().isComplete && store.operations.count() == 0)
        _ = await world.deliverLate()
        #expect(try world.live("card").isEmpty)
    }
}

extension PushCrashTests.Place {
    /// Returns whether a step is at the place.
    fileprivate func isAt(_ step: PushStep) -> Bool {
        switch (self, step) {
        case (.began, .began), (.answered, .answered), (.concluded, .concluded): true
        default: false
        }
    }
}
