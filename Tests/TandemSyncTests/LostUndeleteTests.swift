import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// An object that was deleted, brought back and deleted once more stays deleted, though the undelete arrives only then.
@Suite(.ownThreads) struct LostUndeleteTests {
    /// A card of which that is so, with nothing sent since the undelete.
    ///
    /// - Parameter after: With which request the undelete arrives.
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
        // The first one is on the version before the delete, and is refused.
        desk.remote.next(.meanwhile {}, on: .undelete)
        desk.remote.next(.deliverLate(after: after), on: .undelete)
        try await desk.sync.attemptPush()
        #expect(desk.asked == [.delete, .undelete, .undelete])
        try await desk.store.write { try $0.delete(Card.self, card.localID) }
        desk.remote.forgetRequests()
        return card
    }

    /// Whatever is taken for somebody else's change shows.
    private func report(_ context: SyncContext) throws { try context.table(Card.self).setConflicts(.report) }

    /// What is on its way arrives.
    private func arrive(_ desk: Desk) async throws {
        for _ in 1...25 { _ = try await desk.remote.find("Card", .id("x")) }
    }

    private func isGone(_ desk: Desk) throws -> Bool { try desk.isLevel() && desk.remote.items(in: "Card").isEmpty }

    // MARK: When it arrives

    @Test(arguments: [true, false])
    func theTombstoneGetsAnotherVersion(takesValues: Bool) async throws {
        let desk = try Desk(undeletesWithValues: takesValues)
        _ = try await lost(desk)
        #expect(try await desk.sync.attemptPush().entries.map(\.outcome.name) == ["done"])
        #expect(desk.asked == [.delete, .undelete, .delete])
        try await arrive(desk)
        #expect(try isGone(desk))
    }

    /// Before, between, and after all that the delete asks.
    @Test(arguments: 1...6, [true, false])
    func itStaysDeletedWheneverTheUndeleteArrives(after: Int, takesValues: Bool) async throws {
        let desk = try Desk(undeletesWithValues: takesValues)
        _ = try await lost(desk, after: after)
        #expect(try await desk.sync.push().isComplete)
        try await arrive(desk)
        #expect(try isGone(desk))
    }

    @Test func aPullBringsNothingBack() async throws {
        let desk = try Desk()
        let card = try await lost(desk)
        #expect(try await desk.sync.push().isComplete)
        try await arrive(desk)
        #expect(try await desk.sync.pull(Card.self).inserted == 0)
        #expect(try desk.card(card.localID) == nil)
    }

    /// No undelete was sent that could arrive late: one request is enough.
    @Test func aDeleteAfterALostDeleteIsOneRequest() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await desk.store.write { try $0.delete(Card.self, card.localID) }
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        #expect(try await desk.sync.push().isComplete && desk.asked == [.delete, .delete])
        #expect(try isGone(desk))
    }

    // MARK: What goes wrong meanwhile

    @Test(arguments: PushCrashTests.Place.allCases, [1, 2, 3, 20])
    func aPushThatDiesLeavesItDeleted(place: PushCrashTests.Place, after: Int) async throws {
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

    /// The requests that a delete makes, by their kinds, and which of that kind.
    enum Request: CaseIterable, Sendable {
        case delete, undelete, secondDelete

        func goesWrong(_ desk: Desk, _ fault: RemoteFault) {
            if self == .secondDelete { desk.remote.next(.meanwhile {}, on: .delete) }
            desk.remote.next(fault, on: self == .undelete ? .undelete : .delete)
        }
    }

    @Test(arguments: Request.allCases, [true, false])
    func whatIsLostIsAskedAgain(request: Request, takesValues: Bool) async throws {
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

    /// A server that does not take the undelete does not take a late one either.
    @Test func anUndeleteThatIsRefusedKeepsNoDeleteBack() async throws {
        let desk = try Desk()
        _ = try await lost(desk)
        desk.remote.next(.fail(.refused(status: 403, message: "")), on: .undelete)
        #expect(try await desk.sync.push().isComplete && desk.asked == [.delete, .undelete])
        #expect(try isGone(desk))
    }

    /// The object is there now, and is to be deleted: that is for the user to know.
    @Test func aSecondDeleteThatIsRefusedWaitsForTheUser() async throws {
        let desk = try Desk()
        _ = try await lost(desk)
        Request.secondDelete.goesWrong(desk, .fail(.refused(status: 403, message: "")))
        #expect(try await desk.sync.attemptPush().entries.map(\.outcome.name) == ["refused"])
        try await desk.sync.retry(try #require(try desk.operation?.id))
        #expect(try await desk.sync.push().isComplete)
        try await arrive(desk)
        #expect(try isGone(desk))
    }

    /// What the delete itself has sent comes back, and is not what is here by then.
    @Test func whatIsSentToDeleteItIsOurs() async throws {
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

    /// Another device brings it back with a change, or deletes it, just before each of the requests.
    @Test(arguments: Request.allCases, Other.allCases)
    func whatOthersDoMeanwhileStands(request: Request, other: Other) async throws {
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
                // Where the late one comes first, there is something to delete, and no undelete.
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

    /// A server that takes no values along brings back what others had made of it before they deleted it: that they have
    /// deleted is what the user wants too.
    @Test(arguments: [true, false])
    func whatOthersHaveDeletedIsNoConflictWhenOurUndeleteHasBroughtItBack(isEdited: Bool) async throws {
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

    /// What was looked up is not what the undelete has left.
    @Test(arguments: [true, false], [true, false])
    func whatOthersMakeOfItBeforeItIsLookedUpIsMet(isEdited: Bool, takesValues: Bool) async throws {
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
    func whatIsBroughtBackWhileItIsDeletedIsThere(request: Request, takesValues: Bool) async throws {
        let desk = try Desk(undeletesWithValues: takesValues)
        let card = try await lost(desk)
        let (store, id) = (desk.store, card.localID)
        request.goesWrong(desk, .meanwhile { _ = try? await store.write { try $0.undelete(Card.self, id) } })
        try await desk.sync.attemptPush()
        try await desk.sync.attemptPush()
        try await arrive(desk)
        #expect(try desk.isLevel() && desk.card(id)?.points == 2)
    }

    /// A pull has brought the tombstone, which the delete wants: it has to be sent all the same.
    @Test func keepingADeleteThatAPullHasMetStillSendsIt() async throws {
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

    /// What the user has chosen about the undelete does not have it forgotten.
    @Test func choosingMineOverTheTombstoneForgetsNoUndelete() async throws {
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

/// The same in the two tongues.
@Suite(.ownThreads) struct LostUndeleteDialectTests {
    private static func isUndelete(_ request: HTTPRequest) -> Bool {
        let path = request.path ?? ""
        return request.method == .put && path.contains("__includedeleted=true")
            || request.method == .post && path.split(separator: "/").count == 3
    }

    /// - Parameter isInFlight: Whether it is brought back while it is being deleted: the one server's answer to that has
    ///   no version.
    @Test(arguments: Dialect.both, [true, false])
    func aLateUndeleteMeetsAnotherVersion(dialect: Dialect, isInFlight: Bool) async throws {
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
        // The first one that is on the tombstone's version.
        world.delay { Self.isUndelete($0) && undeletes.next() == (isInFlight ? 1 : 2) }
        try await sync.attemptPush()
        try await store.write { _ = try $0.delete(Card.self, id) }
        #expect(try world.live("card").isEmpty)
        #expect(try await sync.push().isComplete && store.operations.count() == 0)
        for _ in 1...2 { #expect(await world.deliverLate() == [412]) }
        #expect(try world.live("card").isEmpty && store.checkIntegrity() == [])
        #expect(try await sync.pull(Card.self).inserted == 0)
    }

    /// It comes while the delete is under way: before each request, and after each.
    @Test(arguments: Dialect.both, 1...6)
    func itStaysDeletedWheneverTheUndeleteArrives(dialect: Dialect, place: Int) async throws {
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
    /// Whether a step is at the place.
    fileprivate func isAt(_ step: PushStep) -> Bool {
        switch (self, step) {
        case (.began, .began), (.answered, .answered), (.concluded, .concluded): true
        default: false
        }
    }
}
