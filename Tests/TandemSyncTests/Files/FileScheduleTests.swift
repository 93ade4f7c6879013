import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

@Suite(.ownThreads, .timeLimit(.minutes(10))) struct FileScheduleTests {
    @Test func `a failed file sets the time of the next sync`() async throws {
        let fixture = try PhotoFixture()
        try fixture.attached()
        fixture.fileServer.next("upload", .fail(.refused(status: 403, message: "No.")))
        let result = try await fixture.sync.synchronize()
        let outcome = SyncOutcome(result)
        #expect(outcome.kind == .fine)
        #expect(outcome.nextDue == fixture.clock.now() + 60)
        // A sync without operations has the file to send.
        #expect(try fixture.store.operations.count() == 0)
        #expect(try await fixture.sync.synchronize().uploads.count == 1)
        #expect(try await fixture.sync.synchronize().uploads.isEmpty)
    }

    @Test func `files wait on an expensive network unless the app requests them`() async throws {
        for uploads in [true, false] {
            let log = Log()
            let fixture = try SchedulerFixture(network: NetworkState(isMetered: true)) {
                $0.allowsMetered = true
                $0.uploadsWhenMetered = uploads
            } body: { _ in
                log.note("\(ScheduledRun.leavesFiles)")
                return SyncResult()
            }
            await fixture.start()
            fixture.scheduler.syncNow()
            await fixture.scheduler.waitUntilIdle()
            await fixture.scheduler.stop()
            #expect(log.lines == ["\(!uploads)", "false"])
        }
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        let run = ScheduledRun(job: ObjectIdentifier(fixture.sync), isAutomatic: true, leavesFiles: true)
        let sync = fixture.sync
        _ = try await run.run { try await sync.synchronize() }
        #expect(fixture.fileServer.requests.isEmpty)
        #expect(try fixture.receipt(receipt.localID).serverID != nil)
        run.end()
        try await sync.synchronize()
        #expect(try fixture.receipt(receipt.localID).isSynced)
    }

    @Test func `a purge keeps files that are not uploaded unless it is forced`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        try await fixture.restarted(withFiles: false).push()
        await #expect {
            try await fixture.sync.purge(Receipt.self)
        } throws: {
            ($0 as? SyncError)?.code == .pendingOperations
        }
        #expect(try await fixture.sync.purge(Receipt.self, force: true) == 1)
        #expect(try await fixture.store.objects(Receipt.self).all().isEmpty)
        #expect(fixture.isGone(try #require(receipt.photo)))
        #expect(try fixture.store.operations.count() == 0)
    }

    @Test func `a full pull keeps an unlisted object whose file is pending`() async throws {
        let fixture = try PhotoFixture()
        let receipt = try fixture.attached()
        let context = fixture.restarted(withFiles: false)
        try await context.push()
        fixture.remote.remove("Receipt", id: ServerID(receipt.localID.rawValue))
        try await context.pull(Receipt.self)
        #expect(try fixture.receipt(receipt.localID).photo == receipt.photo)
        let result = try await fixture.sync.synchronize()
        #expect(result.lostEdits.first?.values["photo"] != nil)
        #expect(fixture.isGone(try #require(receipt.photo)))
    }
}
