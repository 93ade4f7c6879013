import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Sync does not store, show or log the texts of foreign errors.
///
/// Such a text can contain an address with a key or a token.
@Suite(.ownThreads) struct ForeignErrorTests {
    struct TextualError: Error, CustomStringConvertible {
        var description: String { "https://shop.example?key=hunter2" }
    }

    private func check(_ text: String?) {
        #expect(text?.contains("hunter2") == false && text?.contains("TextualError") == true, "\(text ?? "-")")
    }

    @Test(arguments: [
        RemoteFailure.notSent(TextualError()), .lost(TextualError()),
        .unauthenticated(status: 401, underlying: TextualError()),
    ])
    func `a failure contains the type of its cause`(failure: RemoteFailure) async throws {
        let fixture = try SyncFixture()
        try await fixture.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        fixture.remote.next(.fail(failure))
        let error = try #require(try await fixture.sync.attemptPush().stoppedBy)
        check(error.message)
        check("\(error)")
        check("\(failure)")
        check(try fixture.operation?.error?.message)
        check(try await fixture.sync.status().lastError)
        // The error itself is available to the app.
        #expect(error.underlying is RemoteFailure)
    }

    @Test func `an error of the app is named by its type`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        try fixture.sync.table(Card.self).setBeforeSend { _ in throw TextualError() }
        check(try await fixture.sync.push().entries[0].outcome.error?.message)

        try fixture.sync.table(Card.self).setBeforeSend { _ in .send }
        try fixture.sync.table(Card.self).setConflicts(.resolve { _ in throw TextualError() })
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.integer(3), of: "points") }
        check(try await fixture.sync.push().entries[0].outcome.error?.message)
        check(try fixture.operation?.error?.message)
    }

    @Test func `the last error omits texts that are not ours`() async throws {
        let fixture = try SyncFixture()
        await #expect(throws: TextualError.self) { try await fixture.sync.withExclusiveSync { throw TextualError() } }
        check(fixture.sync.statusTracker.status.lastError)
        let ours = TandemError(
            .ioFailure, message: "The disk is gone.", advice: "Look for it.", underlying: TextualError())
        await #expect(throws: TandemError.self) { try await fixture.sync.withExclusiveSync { throw ours } }
        #expect(fixture.sync.statusTracker.status.lastError == "The disk is gone. Look for it.")
    }
}
