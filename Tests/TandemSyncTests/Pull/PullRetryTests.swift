import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A server that temporarily can't respond. A pull requests the page again, as a push sends an operation again.
@Suite(.ownThreads) struct PullRetryTests {
    private func busy(_ fixture: SyncFixture, times: Int, retryAfter: Duration? = nil) {
        for _ in 0..<times { fixture.remote.next(.fail(.later(status: 503, retryAfter: retryAfter)), on: .page) }
    }

    @Test(arguments: ["cards", nil], [nil, Duration.seconds(5)])
    func `a page is requested again while the server can't respond`(
        queryID: String?, retryAfter: Duration?
    ) async throws {
        let fixture = try SyncFixture()
        _ = try await fixture.syncedCard()
        let start = fixture.clock.now()
        busy(fixture, times: RetryPolicy().tries - 1, retryAfter: retryAfter)
        let result = try await fixture.sync.pull(Card.self, queryID: queryID)
        #expect(result.unchanged == 1 && result.pages == 1)
        #expect(fixture.asked.count { $0 == .page } == RetryPolicy().tries)
        // It waits in between, as long as the server requests.
        let waited = fixture.clock.now().timeIntervalSince(start)
        #expect(retryAfter == nil ? waited > 0 : waited >= 10)
    }

    @Test(arguments: ["cards", nil])
    func `a server that never responds ends the pull`(queryID: String?) async throws {
        let fixture = try SyncFixture()
        busy(fixture, times: RetryPolicy().tries)
        await #expect { try await fixture.sync.pull(Card.self, queryID: queryID) } throws: {
            ($0 as? SyncError)?.code == .later && ($0 as? SyncError)?.status == 503
        }
        #expect(fixture.asked.count == RetryPolicy().tries)
        #expect(try await fixture.sync.pull(Card.self, queryID: queryID).pages == 1)
    }

    @Test func `a long Retry-After ends the pull at once`() async throws {
        let fixture = try SyncFixture()
        busy(fixture, times: 1, retryAfter: .seconds(3600))
        await #expect { try await fixture.sync.pull(Card.self) } throws: {
            ($0 as? SyncError)?.code == .later && ($0 as? SyncError)?.retryAt != nil
        }
        #expect(fixture.asked == [.page])
    }

    @Test func `other failures are not retried`() async throws {
        for failure in [
            RemoteFailure.refused(status: 400, message: "no"), .unauthenticated(status: 401, underlying: nil),
        ] {
            let fixture = try SyncFixture()
            fixture.remote.next(.fail(failure), on: .page)
            await #expect(throws: SyncError.self) { try await fixture.sync.pull(Card.self) }
            #expect(fixture.asked == [.page])
        }
    }
}
