import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A process crashes between any two steps of a push. The next one finds a consistent queue (FB 11).
@Suite(.ownThreads) struct PushCrashTests {
    enum Change: CaseIterable, Sendable { case insert, update, delete, undelete, circle }
    enum CrashPoint: CaseIterable, Sendable { case began, responded, concluded }

    struct Killed: Error {}

    private func isAt(_ place: CrashPoint, _ step: PushStep) -> Bool {
        switch (place, step) {
        case (.began, .began), (.responded, .responded), (.concluded, .concluded): true
        default: false
        }
    }

    @Test(arguments: Change.allCases, [ScriptedRemote.IDs.client, .server])
    func `a push that crashes at any step is executed once`(change: Change, ids: ScriptedRemote.IDs) async throws {
        for place in CrashPoint.allCases {
            // At the first step of its kind, and at the second one.
            for count in 1...2 {
                let fixture = try SyncFixture(ids: ids, undeletesWithValues: false)
                let expected = try await prepare(fixture, change)
                let steps = Counter()
                let dying = try fixture.restarted { options in
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
                #expect(try fixture.store.checkIntegrity() == [], comment)
                let context = try fixture.restarted()
                let result = try await context.push()
                #expect(result.stoppedBy == nil && result.failedOperations.isEmpty, comment)
                try await context.push()
                #expect(try fixture.store.operations.count() == 0, comment)
                #expect(fixture.remote.items(in: "Card").count == expected.cards, comment)
                #expect(fixture.remote.items(in: "Person").count == expected.people, comment)
                #expect(try fixture.isLevel(), comment)
                for person in fixture.remote.items(in: "Person") {
                    let friend = fixture.remote.items(in: "Person").first { $0.id != person.id }
                    #expect(person[member: "friend"] == friend.map { .text($0.id.rawValue) }, comment)
                }
            }
        }
    }

    /// Queues a change, and returns the expected final counts on the server.
    private func prepare(_ fixture: SyncFixture, _ change: Change) async throws -> (cards: Int, people: Int) {
        if change == .circle {
            try await fixture.store.write { tx in
                let people = try ["a", "b"].map { try tx.insert(Person(name: $0)) }
                try tx.update(Person.self, localID: people[0].localID) { $0.friend = people[1].reference }
                try tx.update(Person.self, localID: people[1].localID) { $0.friend = people[0].reference }
            }
            return (0, 2)
        }
        guard change != .insert else {
            try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
            return (1, 0)
        }
        let id = try await fixture.syncedCard().localID
        try await fixture.store.write { tx in
            if change == .update { try tx.update(Card.self, localID: id) { $0.points = 2 } }
            if change != .update { try tx.delete(Card.self, localID: id) }
        }
        guard change == .undelete else { return (change == .update ? 1 : 0, 0) }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        try await fixture.store.write { tx in
            try tx.undelete(Card.self, localID: id)
            try tx.update(Card.self, localID: id) { $0.points = 3 }
        }
        return (1, 0)
    }
}
