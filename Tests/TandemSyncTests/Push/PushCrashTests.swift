import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A process crashes between any two steps of a push. The next one finds a consistent queue (FB 11).
@Suite(.ownThreads) struct PushCrashTests {
    enum Change: CaseIterable, Sendable { case insert, update, delete, undelete, circle }
    enum CrashPoint: CaseIterable, Sendable { case began, answered, concluded }

    struct Killed: Error {}

    private func isAt(_ place: CrashPoint, _ step: PushStep) -> Bool {
        switch (place, step) {
        case (.began, .began), (.answered, .answered), (.concluded, .concluded): true
        default: false
        }
    }

    @Test(arguments: Change.allCases, [ScriptedRemote.IDs.client, .server])
    func `a push that crashes at any step is executed once`(change: Change, ids: ScriptedRemote.IDs) async throws {
        for place in CrashPoint.allCases {
            // At the first step of its kind, and at the second one.
            for count in 1...2 {
                let desk = try Desk(ids: ids, undeletesWithValues: false)
                let expected = try await prepare(desk, change)
                let steps = Counter()
                let dying = try desk.restarted { options in
                    options.inFlight = 1
                    options.onPushStep = { step in
                        guard isAt(place, step) else { return }
                        if steps.next() == count { throw Killed() }
                    }
                }
                do {
                    _ = try await dying.attemptPush()
                } catch is Killed {}
                let comment = Comment("\(place) \(count)")
                #expect(try desk.store.checkIntegrity() == [], comment)
                let context = try desk.restarted()
                let result = try await context.push()
                #expect(result.stoppedBy == nil && result.failedOperations.isEmpty, comment)
                try await context.push()
                #expect(try desk.store.operations.count() == 0, comment)
                #expect(desk.remote.items(in: "Card").count == expected.cards, comment)
                #expect(desk.remote.items(in: "Person").count == expected.people, comment)
                #expect(try desk.isLevel(), comment)
                for person in desk.remote.items(in: "Person") {
                    let friend = desk.remote.items(in: "Person").first { $0.id != person.id }
                    #expect(person[member: "friend"] == friend.map { .text($0.id.rawValue) }, comment)
                }
            }
        }
    }

    /// Queues a change, and returns the expected final counts on the server.
    private func prepare(_ desk: Desk, _ change: Change) async throws -> (cards: Int, people: Int) {
        if change == .circle {
            try await desk.store.write { tx in
                let people = try ["a", "b"].map { try tx.insert(Person(name: $0)) }
                try tx.update(Person.self, localID: people[0].localID) { $0.friend = people[1].reference }
                try tx.update(Person.self, localID: people[1].localID) { $0.friend = people[0].reference }
            }
            return (0, 2)
        }
        guard change != .insert else {
            try await desk.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
            return (1, 0)
        }
        let id = try await desk.syncedCard().localID
        try await desk.store.write { tx in
            if change == .update { try tx.update(Card.self, localID: id) { $0.points = 2 } }
            if change != .update { try tx.delete(Card.self, localID: id) }
        }
        guard change == .undelete else { return (change == .update ? 1 : 0, 0) }
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        try await desk.store.write { tx in
            try tx.undelete(Card.self, localID: id)
            try tx.update(Card.self, localID: id) { $0.points = 3 }
        }
        return (1, 0)
    }
}
