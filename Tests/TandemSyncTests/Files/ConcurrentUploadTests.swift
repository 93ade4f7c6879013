import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// An upload, however long it takes, holds no lock that a pull or a push of objects needs.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ConcurrentUploadTests {
    /// A block on the end of uploads until it is released.
    private final class Hold: Sendable {
        private let state = Synchronized((hasBegun: false, isReleased: false))

        init(_ fileServer: PhotoServer) {
            fileServer.whileUploading { [state] in
                state.change { $0.hasBegun = true }
                _ = await comesTrue { state.value.isReleased }
            }
        }

        /// Waits until an upload is blocked.
        func begun() async -> Bool { await comesTrue { self.state.value.hasBegun } }
        func release() { state.change { $0.isReleased = true } }
    }

    /// A clock on which no sleep ends: changes are not sent beside an upload.
    private struct StillClock: SyncClock {
        func now() -> Date { Date(timeIntervalSince1970: 1_795_000_000) }
        func sleep(for duration: Duration) async throws {
            while true { try await Task.sleep(for: .seconds(3600)) }
        }
    }

    private func edit(_ fixture: PhotoFixture, _ id: ServerID = "theirs") {
        fixture.remote.edit("Receipt", id: id) { $0.put("shop", .text("Магнит")) }
    }

    private func shops(_ fixture: PhotoFixture) -> [JSONNode?] {
        fixture.remote.items(in: "Receipt").map { $0[member: "shop"] }
    }

    @Test func `pulls and pushes of objects end while a file is uploaded`() async throws {
        let fixture = try PhotoFixture { $0.clock = StillClock() }
        let receipt = try fixture.attached()
        let hold = Hold(fixture.fileServer)
        let push = Task { try await fixture.sync.push() }
        #expect(await hold.begun())

        edit(fixture)
        #expect(try await fixture.sync.pull(Receipt.self, queryID: "all").inserted == 1)
        #expect(fixture.sync.statusTracker.status.isSyncing)
        guard case .uploading? = fixture.sync.statusTracker.status.activity else {
            Issue.record("\(String(describing: fixture.sync.statusTracker.status.activity))")
            return
        }
        // A context without a file server sends objects only.
        try await fixture.store.write { _ = try $0.insert(Receipt(shop: "Лента")) }
        #expect(try await fixture.restarted(withFiles: false) { $0.clock = StillClock() }.push().isComplete)
        #expect(shops(fixture).contains(.text("Лента")))
        // A push sends the objects, and waits for its turn to upload.
        try await fixture.store.write { _ = try $0.insert(Receipt(shop: "Ашан")) }
        let second = Task { try await fixture.sync.push() }
        #expect(await comesTrue { shops(fixture).contains(.text("Ашан")) })
        #expect(fixture.fileServer.files.isEmpty)

        hold.release()
        #expect(try await push.value.isComplete)
        #expect(try await second.value.isComplete)
        #expect(try fixture.receipt(receipt.localID).isSynced)
        #expect(fixture.fileServer.requests.count == 1)
        #expect(!fixture.sync.statusTracker.status.isSyncing && fixture.sync.statusTracker.status.activity == nil)
    }

    @Test func `pull in another context on the same file ends while a file is uploaded`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let fixture = try PhotoFixture()
        let path = folder.path(of: "a.tandem")
        let stores = [try Store(at: path, models: Receipt.self), try Store(at: path, models: Receipt.self)]
        defer { for store in stores { store.close() } }
        let contexts = stores.map { fixture.restarted(on: $0) }
        let photo = try stores[0].attachments.add(PhotoFixture.bytes(), name: "чек.jpg")
        try await stores[0].write { _ = try $0.insert(Receipt(shop: "Пятёрочка", photo: photo)) }
        let hold = Hold(fixture.fileServer)
        let push = Task { try await contexts[0].push() }
        #expect(await hold.begun())
        // flock distinguishes open files, not processes, so this represents another process.
        let (upload, sync) = (try #require(stores[0].uploadLockPath), try #require(stores[0].lockPath))
        let isFree = try ProcessLock.acquire(at: upload) != nil
        #expect(!isFree)
        try #require(try ProcessLock.acquire(at: sync)).release()
        edit(fixture)
        let result = try await contexts[1].synchronizeAutomatically()
        #expect(result.pulls.count == 1)
        #expect(try await stores[1].objects(Receipt.self).all().count == 2)
        // It is a scheduler's, and leaves the file to the other push.
        guard case .notReached? = result.uploads.first?.outcome else {
            Issue.record("\(result)")
            return
        }
        #expect(result.nextDue != nil && fixture.fileServer.files.isEmpty)
        hold.release()
        #expect(try await push.value.isComplete)
        #expect(try await stores[1].objects(Receipt.self).all().allSatisfy(\.isSynced))
        #expect(try stores[1].checkIntegrity() == [])
    }

    @Test func `files that another process uploads are left to it, and the objects are sent`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let fixture = try PhotoFixture()
        let store = try Store(at: folder.path(of: "a.tandem"), models: Receipt.self)
        defer { store.close() }
        let sync = fixture.restarted(on: store) { $0.patience = .seconds(1) }
        let photo = try store.attachments.add(PhotoFixture.bytes(), name: "чек.jpg")
        let id = try await store.write { try $0.insert(Receipt(shop: "Пятёрочка", photo: photo)) }.localID
        // flock distinguishes open files, not processes, so this represents another process.
        let path = try #require(store.uploadLockPath)
        let lock = try #require(try ProcessLock.acquire(at: path))
        let result = try await sync.push()
        #expect(result.stoppedBy == nil && !result.isComplete && result.entries.allSatisfy(\.outcome.isFinished))
        guard case .notReached? = result.uploads.first?.outcome else {
            Issue.record("\(result.uploads)")
            return
        }
        #expect(fixture.fileServer.requests.isEmpty && shops(fixture) == [.text("Пятёрочка")])
        edit(fixture)
        #expect(try await sync.pull(Receipt.self, queryID: "all").inserted == 1)
        await #expect { try await sync.purge(Receipt.self, force: true) } throws: { ($0 as? SyncError)?.code == .busy }
        await #expect { try await sync.adopt(.keep) } throws: { ($0 as? SyncError)?.code == .busy }
        lock.release()
        #expect(try await sync.push().isComplete)
        #expect(try await store.objects(Receipt.self).all().first { $0.localID == id }?.isSynced == true)
    }

    @Test(arguments: [true, false])
    func `purges and adoptions wait for uploads, and pulls do not wait for them`(isPurge: Bool) async throws {
        let (fixture, log) = (try PhotoFixture(), Log())
        try fixture.attached()
        let hold = Hold(fixture.fileServer)
        let push = Task { try await fixture.sync.push() }
        #expect(await hold.begun())
        let other = fixture.restarted()
        let waiting = Task {
            if isPurge { try await other.purge(Receipt.self) } else { try await other.adopt(.keep) }
            log.note("after \(fixture.fileServer.files.count) files")
        }
        #expect(await comesTrue { other.statusTracker.status.isSyncing })
        edit(fixture)
        #expect(try await fixture.sync.pull(Receipt.self, queryID: "all").inserted == 1)
        log.note("pulled")
        hold.release()
        #expect(try await push.value.isComplete)
        try await waiting.value
        #expect(log.lines == ["pulled", "after 1 files"])
        #expect(try await fixture.store.objects(Receipt.self).all().count == (isPurge ? 0 : 2))
    }

    @Test func `closure of an upload may pull, may push objects, and is refused a purge`() async throws {
        let (fixture, log) = (try PhotoFixture(), Log())
        try fixture.attached()
        let (sync, store) = (fixture.sync, fixture.store)
        fixture.fileServer.whileUploading {
            do {
                _ = try await store.write { try $0.insert(Receipt(shop: "Лента")) }
                log.note("pull \(try await sync.pull(Receipt.self, queryID: "all").pages > 0)")
                let result = try await sync.push()
                if case .notReached? = result.uploads.first?.outcome { log.note("push") }
                try await sync.purge(Receipt.self)
            } catch {
                log.note("\((error as? SyncError)?.code == .busy)")
            }
        }
        #expect(try await sync.push().isComplete)
        #expect(log.lines == ["pull true", "push", "true"])
        #expect(shops(fixture).contains(.text("Лента")))
    }

    @Test func `push that is cancelled while it waits to upload does not affect the other push`() async throws {
        let fixture = try PhotoFixture()
        try fixture.attached()
        let hold = Hold(fixture.fileServer)
        let push = Task { try await fixture.sync.push() }
        #expect(await hold.begun())
        try await fixture.store.write { _ = try $0.insert(Receipt(shop: "Лента")) }
        let other = fixture.restarted()
        let second = Task { try await other.push() }
        #expect(await comesTrue { shops(fixture).contains(.text("Лента")) })
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        hold.release()
        #expect(try await push.value.isComplete)
        // Its lock is free again.
        #expect(try await other.push().isComplete)
    }

    @Test func `change while another process syncs is sent after the uploads`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let fixture = try PhotoFixture()
        let store = try Store(at: folder.path(of: "a.tandem"), models: Receipt.self)
        defer { store.close() }
        let locks = Synchronized<[ProcessLock]>([])
        let path = try #require(store.lockPath)
        let sync = fixture.restarted(on: store) { options in
            options.patience = .seconds(1)
            options.onFileStep = { step in
                // The other process begins during the upload, and ends after it.
                guard case .began = step, let lock = try ProcessLock.acquire(at: path) else { return }
                locks.change { $0.append(lock) }
            }
        }
        let photo = try store.attachments.add(PhotoFixture.bytes(), name: "чек.jpg")
        let id = try await store.write { try $0.insert(Receipt(shop: "Пятёрочка", photo: photo)) }.localID
        fixture.fileServer.whileUploading {
            try? await store.write { tx in _ = try tx.update(Receipt.self, localID: id) { $0.points = 5 } }
        }
        let result = try await sync.attemptPush()
        #expect(result.stoppedBy?.code == .busy)
        guard case .uploaded? = result.uploads.first?.outcome else {
            Issue.record("\(result.uploads)")
            return
        }
        for lock in locks.value { lock.release() }
        fixture.fileServer.whileUploading(nil)
        #expect(try await fixture.restarted(on: store).push().isComplete)
        #expect(fixture.remote.items(in: "Receipt").first?[member: "points"] == .integer(5))
        #expect(try await store.objects(Receipt.self).all().allSatisfy(\.isSynced))
    }

    /// The server has written the URL, and its response to the upload has not arrived.
    @Test func `change sent while the server sets a URL is not a conflict`() async throws {
        let place = Synchronized<(PhotoFixture, SyncContext, LocalID)?>(nil)
        let fixture = try PhotoFixture { options in
            options.serverSetsFileURLs = true
            options.onFileStep = { step in
                guard case .responded = step, let (fixture, other, id) = place.value else { return }
                let photo = try #require(try fixture.receipt(id).photo)
                guard case .object(var members) = photo.__json else { return }
                members.append((key: "url", value: .text(PhotoServer.url(photo.id.rawValue))))
                fixture.remote.edit("Receipt", id: ServerID(id.rawValue)) { $0.put("photo", .object(members)) }
                try await fixture.store.write { tx in _ = try tx.update(Receipt.self, localID: id) { $0.points = 5 } }
                #expect(try await other.push().entries.map(\.outcome.isFinished) == [true])
            }
        }
        let id = try fixture.attached().localID
        let other = fixture.restarted { $0.serverSetsFileURLs = true }
        try other.table(Receipt.self).setConflicts(.report)
        place.change { $0 = (fixture, other, id) }
        #expect(try await fixture.sync.push().isComplete)
        let here = try fixture.receipt(id)
        #expect(here.isSynced && here.points == 5 && here.photo?.serverURL != nil)
        #expect(fixture.served(here) == here.photo?.__json && fixture.served(here, "points") == .integer(5))
    }
}

extension SyncContext {
    /// Runs a scheduler's sync.
    fileprivate func synchronizeAutomatically() async throws -> SyncResult {
        let run = ScheduledRun(job: ObjectIdentifier(self), isAutomatic: true)
        return try await run.run { try await self.synchronize() }
    }
}
