import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A server that temporarily can't respond. A pull requests the page again, as a push sends an operation again.
@Suite(.ownThreads) struct PullRetryTests {
    private func busy(_ desk: Desk, times: Int, retryAfter: Duration? = nil) {
        for _ in 0..<times { desk.remote.next(.fail(.later(status: 503, retryAfter: retryAfter)), on: .page) }
    }

    @Test(arguments: ["cards", nil], [nil, Duration.seconds(5)])
    func `a page is requested again while the server can't respond`(
        queryID: String?, retryAfter: Duration?
    ) async throws {
        let desk = try Desk()
        _ = try await desk.syncedCard()
        let start = desk.clock.now()
        busy(desk, times: RetryPolicy().tries - 1, retryAfter: retryAfter)
        let result = try await desk.sync.pull(Card.self, queryID: queryID)
        #expect(result.unchanged == 1 && result.pages == 1)
        #expect(desk.asked.count { $0 == .page } == RetryPolicy().tries)
        // It waits in between, as long as the server requests.
        let waited = desk.clock.now().timeIntervalSince(start)
        #expect(retryAfter == nil ? waited > 0 : waited >= 10)
    }

    @Test(arguments: ["cards", nil])
    func `a server that never responds ends the pull`(queryID: String?) async throws {
        let desk = try Desk()
        busy(desk, times: RetryPolicy().tries)
        await #expect { try await desk.sync.pull(Card.self, queryID: queryID) } throws: {
            ($0 as? SyncError)?.code == .later && ($0 as? SyncError)?.status == 503
        }
        #expect(desk.asked.count == RetryPolicy().tries)
        #expect(try await desk.sync.pull(Card.self, queryID: queryID).pages == 1)
    }

    @Test func `a long Retry-After ends the pull at once`() async throws {
        let desk = try Desk()
        busy(desk, times: 1, retryAfter: .seconds(3600))
        await #expect { try await desk.sync.pull(Card.self) } throws: {
            ($0 as? SyncError)?.code == .later && ($0 as? SyncError)?.retryAt != nil
        }
        #expect(desk.asked == [.page])
    }

    @Test func `other failures are not retried`() async throws {
        for failure in [
            RemoteFailure.refused(status: 400, message: "no"), .unauthenticated(status: 401, underlying: nil),
        ] {
            let desk = try Desk()
            desk.remote.next(.fail(failure), on: .page)
            await #expect(throws: SyncError.self) { try await desk.sync.pull(Card.self) }
            #expect(desk.asked == [.page])
        }
    }
}
