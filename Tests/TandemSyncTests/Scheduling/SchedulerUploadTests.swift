import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A scheduler does not wait for its own uploads.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SchedulerUploadTests {
    @Test func `scheduler syncs beside its own upload, and ends it when it is stopped`() async throws {
        let fixture = try PhotoFixture { $0.clock = ManualSyncClock(Date(timeIntervalSince1970: 1_795_000_000)) }
        let receipt = try fixture.attached()
        let (hasBegun, isReleased) = (Synchronized(false), Synchronized(false))
        fixture.fileServer.whileUploading {
            hasBegun.change { $0 = true }
            _ = await comesTrue { isReleased.value }
        }
        let results = Synchronized<[SyncResult]>([])
        let scheduler = SyncScheduler(
            fixture.sync, network: nil,
            onResult: { result in
                if case .success(let result) = result { results.change { $0.append(result) } }
            })
        scheduler.start()
        #expect(await comesTrue { hasBegun.value })
        #expect(results.value.isEmpty)
        fixture.remote.edit("Receipt", id: "theirs") { $0.put("shop", .text("Магнит")) }
        scheduler.syncNow()
        #expect(await comesTrue { results.value.count == 1 })
        #expect(try await fixture.store.objects(Receipt.self).all().count == 2)
        // It has left the file to the sync that uploads it.
        #expect(results.value.first?.uploads.isEmpty == true && fixture.fileServer.files.isEmpty)
        #expect(scheduler.state == .syncing)

        isReleased.change { $0 = true }
        await scheduler.waitUntilIdle()
        #expect(results.value.count == 2)
        #expect(results.value.last?.uploads.map(\.isFinished) == [true])
        #expect(try fixture.receipt(receipt.localID).isSynced)

        // Another upload is blocked, and a stop ends it.
        hasBegun.change { $0 = false }
        fixture.fileServer.whileUploading {
            hasBegun.change { $0 = true }
            while !Task.isCancelled { await Task.yield() }
        }
        try fixture.attached("Лента", PhotoFixture.bytes(seed: 3))
        scheduler.syncNow()
        #expect(await comesTrue { hasBegun.value })
        await scheduler.stop()
        #expect(scheduler.state == .stopped && fixture.fileServer.files.count == 1)
        #expect(try await fixture.sync.status().pendingFiles == 1)
    }

    @Test func `sync that uploads blocks no other sync, but changes wait for its end`() throws {
        var plan = SchedulePlan(.init(), network: .up, at: .distantPast, random: { 0 })
        plan.began()
        #expect(plan.next() == .wait(until: nil))
        plan.beganUploads()
        // The uploads send it.
        plan.recordChange()
        let interval = Date.distantPast + 900
        #expect(plan.next() == .wait(until: interval) && plan.state == .syncing)
        plan.ask()
        #expect(plan.next() == .sync(isAsked: true))
        plan.began()
        // The uploads end first, and have left files.
        let due = Date.distantPast + 60
        plan.endedUploads(SyncOutcome(SyncResult(stoppedBy: nil, nextDue: due)))
        #expect(plan.next() == .wait(until: nil))
        plan.ended(SyncOutcome(SyncResult()))
        #expect(plan.next() == .wait(until: due) && plan.state == .waiting(until: due))
        plan.advance(to: due)
        #expect(plan.next() == .sync(isAsked: false))
        plan.began()
        plan.ended(SyncOutcome(SyncResult()))
        #expect(plan.next() == .wait(until: due + 900))
        plan.recordChange()
        #expect(plan.next() == .wait(until: due + 2))
    }
}
