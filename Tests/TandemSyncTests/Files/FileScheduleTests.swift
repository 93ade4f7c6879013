import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

@Suite(.ownThreads, .timeLimit(.minutes(10))) struct FileScheduleTests {
    @Test func `a failed file sets the time of the next sync`() async throws {
        let desk = try PhotoFixture()
        try desk.attached()
        desk.shelf.next("upload", .fail(.refused(status: 403, message: "No.")))
        let result = try await desk.sync.synchronize()
        let outcome = SyncOutcome(result)
        #expect(outcome.kind == .fine)
        #expect(outcome.nextDue == desk.clock.now() + 60)
        // A sync without operations has the file to send.
        #expect(try desk.store.operations.count() == 0)
        #expect(try await desk.sync.synchronize().uploads.count == 1)
        #expect(try await desk.sync.synchronize().uploads.isEmpty)
    }

    @Test func `files wait on an expensive network unless the app requests them`() async throws {
        for uploads in [true, false] {
            let log = Log()
            let desk = try SchedulerFixture(network: NetworkState(isMetered: true)) {
                $0.allowsMetered = true
                $0.uploadsWhenMetered = uploads
            } body: { _ in
                log.note("\(ScheduledRun.leavesFiles)")
                return SyncResult()
            }
            await desk.start()
            desk.scheduler.syncNow()
            await desk.scheduler.waitUntilIdle()
            await desk.scheduler.stop()
            #expect(log.lines == ["\(!uploads)", "false"])
        }
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        let run = ScheduledRun(job: ObjectIdentifier(desk.sync), isAutomatic: true, leavesFiles: true)
        let sync = desk.sync
        _ = try await run.run { try await sync.synchronize() }
        #expect(desk.shelf.requests.isEmpty)
        #expect(try desk.receipt(receipt.localID).serverID != nil)
        run.end()
        try await sync.synchronize()
        #expect(try desk.receipt(receipt.localID).isSynced)
    }

    @Test func `a purge keeps files that are not uploaded unless it is forced`() async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        try await desk.restarted(withFiles: false).push()
        await #expect {
            try await desk.sync.purge(Receipt.self)
        } throws: {
            ($0 as? SyncError)?.code == .pendingOperations
        }
        #expect(try await desk.sync.purge(Receipt.self, force: true) == 1)
        #expect(try await desk.store.objects(Receipt.self).all().isEmpty)
        #expect(desk.isGone(try #require(receipt.photo)))
        #expect(try desk.store.operations.count() == 0)
    }

    @Test func `a full pull keeps an unlisted object whose file is pending`() async throws {
        let desk = try PhotoFixture()
        let receipt = try desk.attached()
        let context = desk.restarted(withFiles: false)
        try await context.push()
        desk.remote.remove("Receipt", id: ServerID(receipt.localID.rawValue))
        try await context.pull(Receipt.self)
        #expect(try desk.receipt(receipt.localID).photo == receipt.photo)
        let result = try await desk.sync.synchronize()
        #expect(result.lostEdits.first?.values["photo"] != nil)
        #expect(desk.isGone(try #require(receipt.photo)))
    }
}
