import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The observable progress of a push.
@Suite(.ownThreads) struct PushProgressTests {
    @Test func `a push reports its progress`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        let cards = try await fixture.store.write { tx in
            try (1...5).map { try tx.insert(Card(shop: "Лента", barcode: "\($0)")) }
        }
        let steps = Mutex<[String]>([])
        let states = Mutex<[SyncState?]>([])
        let (sync, board) = (fixture.sync, fixture.sync.statusTracker)
        let token = board.observe {
            guard case .pushing(let done, let total)? = board.status.activity else { return }
            steps.withLock { $0.append("\(done) of \(total)") }
        }
        fixture.remote.next(
            .meanwhile {
                for card in [cards[0], cards[4]] {
                    let state = try? await sync.state(of: card)
                    states.withLock { $0.append(state) }
                }
            }, on: .insert)
        // A rejected operation counts as finished.
        fixture.remote.next(.fail(.refused(status: 422, message: "no")), on: .id(cards[2].localID.rawValue))
        let result = try await sync.push()
        board.remove(token)
        #expect(result.failedOperations.count == 1)
        #expect(steps.withLock { $0 } == (0...5).map { "\($0) of 5" })
        #expect(states.withLock { $0 } == [.sending(.insert), .pending(.insert)])
        #expect(board.status.activity == nil && !board.status.isSyncing)
        #expect(try await sync.state(of: cards[0]) == .synced)
    }
}
