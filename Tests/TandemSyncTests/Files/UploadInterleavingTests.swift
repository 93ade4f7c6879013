import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Changes made during uploads are sent before the uploads end.
@Suite(.ownThreads) struct UploadInterleavingTests {
    /// A clock on which no sleep ends.
    private struct StillClock: SyncClock {
        func now() -> Date { Date(timeIntervalSince1970: 1_795_000_000) }
        func sleep(for duration: Duration) async throws {
            while true { try await Task.sleep(for: .seconds(3600)) }
        }
    }

    /// Three receipts with photographs, and one that the server knows.
    private func fixture(
        _ log: Log, files: Int = 3, _ options: (inout SyncContext.Options) -> Void = { _ in }
    ) async throws -> (PhotoFixture, LocalID) {
        let fixture = try PhotoFixture {
            $0.uploadsInFlight = 1
            $0.onFileStep = { if case .began = $0 { log.note("file") } }
            options(&$0)
        }
        let known = try await fixture.synced().localID
        for number in 0..<files { try fixture.attached("\(number)", PhotoFixture.bytes(2500, seed: UInt8(number))) }
        return (fixture, known)
    }

    private func points(_ fixture: PhotoFixture, _ id: LocalID) -> JSONNode? {
        fixture.remote.all(in: "Receipt").first { $0.id.rawValue == id.rawValue }?[member: "points"]
    }

    /// Independent of the clock: if it stands still, no change is due automatically.
    @Test(arguments: [true, false], [true, false])
    func `a change is sent before the next file begins`(isScheduled: Bool, isStill: Bool) async throws {
        let (log, once) = (Log(), Counter())
        let (fixture, known) = try await fixture(log) { if isStill { $0.clock = StillClock() } }
        let (store, sync) = (fixture.store, fixture.sync)
        fixture.fileServer.whileUploading {
            if once.next() == 1 {
                try? await store.write { tx in _ = try tx.update(Receipt.self, localID: known) { $0.points = 5 } }
            } else {
                log.note("\(String(describing: points(fixture, known)))")
            }
        }
        let result: SyncResult?
        if isScheduled {
            let run = ScheduledRun(job: ObjectIdentifier(sync), isAutomatic: true)
            result = try await run.run { try await sync.synchronize() }
        } else {
            result = try await sync.push()
        }
        let sent = "\(String(describing: Optional(JSONNode.integer(5))))"
        #expect(log.lines == ["file", "file", sent, "file", sent])
        #expect(result?.isComplete == true && result?.uploads.count == 3)
        #expect(result?.entries.count { $0.localID == known } == 1)
        #expect(try store.operations.count() == 0)
        #expect(try await store.objects(Receipt.self).all().allSatisfy(\.isSynced))
    }

    @Test func `a change is sent while a large file is being uploaded`() async throws {
        let (fixture, known) = try await fixture(Log(), files: 1)
        let hasCome = Synchronized(false)
        fixture.fileServer.whileUploading {
            try? await fixture.store.write { tx in _ = try tx.update(Receipt.self, localID: known) { $0.points = 5 } }
            let isThere = await comesTrue { points(fixture, known) == .integer(5) }
            hasCome.change { $0 = isThere }
            // Progress is reported all the while.
            #expect(fixture.sync.statusTracker.uploads.values.first == 2500)
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(hasCome.value)
        #expect(try await fixture.store.objects(Receipt.self).all().allSatisfy(\.isSynced))
    }

    @Test func `a file attached during uploads is due at once`() async throws {
        let once = Counter()
        let (fixture, known) = try await fixture(Log(), files: 1)
        let photo = try fixture.store.attachments.add([1, 2, 3], name: "позже.jpg")
        fixture.fileServer.whileUploading {
            guard once.next() == 1 else { return }
            try? await fixture.store.write { tx in
                _ = try tx.update(Receipt.self, localID: known) { $0.photo = photo }
                try tx.insert(Receipt(shop: "новый", scans: [photo]))
            }
        }
        let result = try await fixture.sync.push()
        #expect(!result.isComplete)
        #expect(result.nextDue != nil)
        guard case .notReached? = result.uploads.last?.outcome else {
            Issue.record("\(result.uploads)")
            return
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.fileServer.files[PhotoServer.url(photo.id.rawValue)] != nil)
        #expect(try await fixture.store.objects(Receipt.self).all().allSatisfy(\.isSynced))
    }

    @Test func `inserts and deletes are sent between the files too`() async throws {
        let (log, once) = (Log(), Counter())
        let (fixture, known) = try await fixture(log)
        fixture.fileServer.whileUploading {
            guard once.next() == 1 else {
                return log.note("\(fixture.remote.items(in: "Receipt").contains { $0.id.rawValue == known.rawValue })")
            }
            try? await fixture.store.write { tx in
                try tx.insert(Receipt(shop: "новый"))
                try tx.delete(Receipt.self, localID: known)
            }
        }
        let result = try await fixture.sync.push()
        #expect(log.lines == ["file", "file", "false", "file", "false"])
        #expect(result.entries.count == 3 + 2 + 3)
        #expect(fixture.remote.items(in: "Receipt").count == 4)
        #expect(try fixture.store.operations.count() == 0)
    }

    @Test func `continuous changes do not block the files`() async throws {
        for isStill in [true, false] {
            let (log, count, changing) = (Log(), Counter(), Synchronized<Store?>(nil))
            let (fixture, known) = try await fixture(log, files: 5) { options in
                if isStill { options.clock = StillClock() }
                // Each push triggers another change.
                options.onPushStep = { step in
                    guard case .concluded = step, let store = changing.value, log.lines.count < 5 else { return }
                    let points = count.next()
                    try? await store.write { tx in
                        for receipt in try tx.objects(Receipt.self).where({ $0.shop == "Лента" }).all() {
                            _ = try tx.update(Receipt.self, localID: receipt.localID) { $0.points = points }
                        }
                    }
                }
            }
            changing.change { $0 = fixture.store }
            try await fixture.store.write { _ = try $0.update(Receipt.self, localID: known) { $0.points = -1 } }
            let result = try await fixture.sync.push()
            #expect(result.uploads.count { $0.isFinished } == 5)
            try await fixture.sync.push()
            #expect(points(fixture, known) == .integer(Int64(count.value)))
        }
    }

    @Test func `a server that becomes unreachable during a change stops the files that have not begun`() async throws {
        let (log, once) = (Log(), Counter())
        let (fixture, known) = try await fixture(log)
        fixture.fileServer.whileUploading {
            guard once.next() == 1 else { return }
            for _ in 0..<10 { fixture.remote.next(.fail(.unreachable)) }
            try? await fixture.store.write { tx in _ = try tx.update(Receipt.self, localID: known) { $0.points = 5 } }
        }
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .unreachable)
        #expect(log.lines == ["file"])
        #expect(result.uploads.count { if case .notReached = $0.outcome { true } else { false } } == 2)
        #expect(try await fixture.sync.status().pendingFiles == 2)
    }

    @Test func `a failed operation is not retried between the files`() async throws {
        let log = Log()
        let (fixture, known) = try await fixture(log)
        fixture.remote.next(.fail(.refused(status: 403, message: "No.")), on: .update)
        try await fixture.store.write { _ = try $0.update(Receipt.self, localID: known) { $0.points = 5 } }
        fixture.remote.forgetRequests()
        let result = try await fixture.sync.push()
        #expect(result.failedOperations.map(\.operation.localID) == [known])
        #expect(fixture.remote.requests.count { $0.id == known.rawValue } == 1)
    }

    @Test func `many URLs are sent before the end`() async throws {
        let (log, count) = (Log(), Counter())
        let (fixture, _) = try await fixture(log, files: 201)
        fixture.remote.forgetRequests()
        fixture.fileServer.whileUploading {
            guard count.next() == 201 else { return }
            // The last file is under way. At most 99 URLs of the others may still wait.
            let areSent = await comesTrue { fixture.remote.requests.count { $0.kind == .update } > 100 }
            log.note("100 URLs sent: \(areSent)")
        }
        #expect(try await fixture.sync.push().isComplete)
        #expect(log.lines.last == "100 URLs sent: true")
    }

    @Test func `turns are taken in order`() {
        var turns = UploadInterleaving(limit: 2)
        #expect(turns.next(hasFile: true) == .file)
        turns.hasNews = true
        #expect(turns.next(hasFile: true) == .push)
        // No file begins meanwhile.
        #expect(turns.next(hasFile: true) == .wait)
        turns.handle(.pushed)
        turns.hasNews = true
        // The waiting file.
        #expect(turns.next(hasFile: true) == .file)
        #expect(turns.next(hasFile: true) == .rest)
        #expect(turns.next(hasFile: true) == .wait)
        turns.handle(.rested)
        #expect(turns.next(hasFile: true) == .push)
        turns.handle(.ended)
        turns.handle(.pushed)
        turns.hasNews = true
        #expect(turns.next(hasFile: true) == .push)
        turns.handle(.pushed)
        turns.handle(.ended)
        turns.hasNews = true
        // After the last file, the remaining changes are sent with the URLs.
        #expect(turns.next(hasFile: false) == .end)
    }
}
