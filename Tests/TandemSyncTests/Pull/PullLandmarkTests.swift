import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A restored server that already has newer items, so that positions do not show it.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct PullLandmarkTests {
    private static let query = PullQuery(Card.self, queryID: "cards")

    /// A device that has pulled the cards a, b and late, and a backup without the last one.
    private struct Device {
        let fixture: SyncFixture
        let backup: ScriptedRemote.Backup

        init(traits: ScriptedRemote.Traits = .generations) async throws {
            fixture = try SyncFixture(traits: traits) { $0.overlap = .zero }
            fixture.clock.advance(by: 86_400)
            for id in ["a", "b"] { Self.write(id, to: fixture) }
            backup = fixture.remote.backup()
            fixture.remote.advanceClock(by: 60)
            Self.write("late", to: fixture)
            try await fixture.sync.pull(query)
            fixture.remote.forgetRequests()
        }

        static func write(_ id: String, points: Int64 = 1, to fixture: SyncFixture) {
            fixture.remote.edit("Card", id: ServerID(id)) { item in
                item.isDeleted = false
                item.set(.text("Лента"), of: "shop")
                item.set(.text(id), of: "barcode")
                item.set(.integer(points), of: "points")
            }
        }

        /// Restores the backup. Another device then writes a card.
        func restore() {
            fixture.remote.restore(backup)
            fixture.remote.advanceClock(by: 3600)
            Self.write("new", to: fixture)
        }

        /// Returns a context on the same store, as after a restart of the app.
        func restarted() throws -> SyncContext { try fixture.restarted { $0.overlap = .zero } }

        var cards: [String] {
            get async throws { try await fixture.store.objects(Card.self).all().map(\.barcode).sorted() }
        }
    }

    @Test func `a restored server with newer items is detected at the next start`() async throws {
        let device = try await Device()
        device.restore()
        let sync = try device.restarted()
        #expect(try await sync.pull(Self.query).received.deleted == 1)
        #expect(try await device.cards == ["a", "b", "new"])
        // The following pulls need no look-up, and no full pull.
        device.fixture.remote.forgetRequests()
        for context in [sync, try device.restarted()] {
            let result = try await context.pull(Self.query).received
            #expect(result.changes == 0 && result.pages == 1)
        }
        #expect(device.fixture.asked.filter { $0 != .find } == [.page, .page])
        #expect(try await device.cards == ["a", "b", "new"])
    }

    @Test func `an earlier version of the newest item is detected`() async throws {
        let device = try await Device()
        let backup = device.fixture.remote.backup()
        device.fixture.remote.advanceClock(by: 60)
        Device.write("late", points: 2, to: device.fixture)
        try await device.fixture.sync.pull(Self.query)
        device.fixture.remote.restore(backup)
        device.fixture.remote.advanceClock(by: 3600)
        Device.write("new", to: device.fixture)
        try await device.restarted().pull(Self.query)
        #expect(try device.fixture.card("late")?.points == 1)
    }

    @Test func `a running app looks for the newest item once an hour`() async throws {
        let device = try await Device()
        let fixture = device.fixture
        // The first pull had nothing to look for.
        for expected in [[.find, .page], [.page]] as [[RecordedRequest.Kind]] {
            fixture.remote.forgetRequests()
            try await fixture.sync.pull(Self.query)
            #expect(fixture.asked == expected)
        }
        device.restore()
        try await fixture.sync.pull(Self.query)
        #expect(try await device.cards == ["a", "b", "late", "new"])
        fixture.clock.advance(by: 3601)
        // The newest item is now one that the restored server has.
        fixture.remote.restore(device.backup)
        fixture.remote.advanceClock(by: 3600)
        Device.write("newer", to: fixture)
        try await fixture.sync.pull(Self.query)
        #expect(try await device.cards == ["a", "b", "newer"])
    }

    @Test(arguments: [true, false])
    func `a newest item that was changed or deleted meanwhile causes no full pull`(isDeleted: Bool) async throws {
        let device = try await Device()
        device.fixture.remote.advanceClock(by: 60)
        if isDeleted {
            device.fixture.remote.remove("Card", id: "late")
        } else {
            Device.write("late", points: 2, to: device.fixture)
        }
        let result = try await device.restarted().pull(Self.query).received
        #expect(result.pages == 1 && result.changes == 1)
        #expect(device.fixture.asked == [.find, .page])
    }

    /// A server that can't carry out the look-up must not block the pull.
    @Test(arguments: [(RemoteFailure.refused(status: 400, message: ""), 1), (.later(status: 500, retryAfter: nil), 3)])
    func `a refused look-up of the newest item is repeated by the next pull`(
        failure: RemoteFailure, tries: Int
    ) async throws {
        let device = try await Device()
        #expect(RetryPolicy().tries == 3)
        device.restore()
        let sync = try device.restarted()
        for _ in 0..<tries { device.fixture.remote.next(.fail(failure), on: .find) }
        try await sync.pull(Self.query)
        #expect(device.fixture.asked == Array(repeating: .find, count: tries) + [.page])
        // The pull has a newer item, but the lost one is still to be looked up.
        #expect(try await device.cards == ["a", "b", "late", "new"])
        device.fixture.remote.forgetRequests()
        try await sync.pull(Self.query)
        #expect(device.fixture.asked.first == .find)
        #expect(try await device.cards == ["a", "b", "new"])
    }

    /// A page after the failed look-up would replace the landmark, and the restored server would not be detected.
    @Test(arguments: [
        RemoteFailure.notSent(UnavailableServer()), .unauthenticated(status: 401, underlying: nil),
        .later(status: 503, retryAfter: .seconds(3600)), .later(status: 500, retryAfter: .seconds(3600)),
    ])
    func `a look-up that does not reach the server ends the pull`(failure: RemoteFailure) async throws {
        let device = try await Device()
        device.restore()
        let sync = try device.restarted()
        device.fixture.remote.next(.fail(failure), on: .find)
        await #expect(throws: SyncError.self) { try await sync.pull(Self.query) }
        #expect(device.fixture.asked == [.find])
        if case .later = failure {
            // The server's pause applies to it as to every request.
            await #expect(throws: SyncError.self) { try await sync.pull(Self.query) }
            #expect(device.fixture.asked == [.find])
            device.fixture.clock.advance(by: 3601)
        }
        try await sync.pull(Self.query)
        #expect(try await device.cards == ["a", "b", "new"])
    }

    private struct UnavailableServer: Error {}

    @Test func `a look-up is repeated while the server is busy`() async throws {
        let device = try await Device()
        device.restore()
        let sync = try device.restarted()
        let tries = RetryPolicy().tries
        for _ in 1..<tries {
            device.fixture.remote.next(.fail(.later(status: 503, retryAfter: .seconds(1))), on: .find)
        }
        try await sync.pull(Self.query)
        #expect(device.fixture.asked.count { $0 == .find } == tries)
        #expect(try await device.cards == ["a", "b", "new"])
    }

    @Test func `a full pull after a restore keeps unsent changes`() async throws {
        let device = try await Device()
        try await device.fixture.store.write { tx in
            try tx.update(Card.self, localID: "late") { $0.points = 9 }
            try tx.insert(Card(shop: "Магнит", barcode: "mine", points: 1))
        }
        device.restore()
        let sync = try device.restarted()
        try sync.table(Card.self).setConflicts(.clientWins)
        let result = try await sync.synchronize([Self.query])
        #expect(result.isComplete && result.lostEdits.isEmpty)
        let codes = device.fixture.remote.items(in: "Card").compactMap { $0[member: "barcode"] }
        #expect(codes.count == 5 && codes.contains(.text("mine")) && codes.contains(.text("late")))
    }

    /// Such a server may remove an item without a tombstone.
    @Test func `a server without generations gets no look-up`() async throws {
        let device = try await Device(traits: [])
        try await device.restarted().pull(Self.query)
        #expect(device.fixture.asked == [.page])
    }

    @Test func `a purge removes the newest item`() async throws {
        let device = try await Device()
        try await device.fixture.sync.purge(Card.self)
        try await device.restarted().pull(Self.query)
        #expect(!device.fixture.asked.contains(.find))
        #expect(try await device.cards == ["a", "b", "late"])
    }
}
