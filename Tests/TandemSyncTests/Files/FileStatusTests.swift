import Foundation
import OpenCombine
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The state of a file, live and after a restart.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct FileStatusTests {
    /// Records a stream's values without repetitions.
    private func follow(
        _ statuses: AsyncThrowingStream<AttachmentStatus, any Error>
    ) -> (reported: Synchronized<[AttachmentStatus]>, end: Task<(any Error)?, Never>) {
        let reported = Synchronized<[AttachmentStatus]>([])
        let end = Task { () -> (any Error)? in
            do {
                for try await status in statuses { reported.change { $0.append(status) } }
                return nil
            } catch {
                return error
            }
        }
        return (reported, end)
    }

    @Test func `a download's progress and its end are reported`() async throws {
        let fixture = try PhotoFixture()
        try fixture.attached()
        try await fixture.sync.push()
        let (store, sync) = try fixture.other()
        try await sync.synchronize()
        let photo = try #require(try await store.objects(Receipt.self).all().first?.photo)
        let (reported, end) = follow(sync.statuses(of: photo))
        let published = Synchronized<[AttachmentStatus]>([])
        let failure = Synchronized(false)
        let subscription = sync.statusPublisher(of: photo).sink { completion in
            if case .failure(TandemError.Code.unknownAttachment) = completion { failure.change { $0 = true } }
        } receiveValue: { status in
            published.change { $0.append(status) }
        }
        func expectReports(_ expected: [Bool]) async {
            let isReported = await comesTrue { reported.value.map(\.isOnDevice) == expected }
            #expect(isReported, "\(reported.value)")
            let isPublished = await comesTrue { published.value.map(\.isOnDevice) == expected }
            #expect(isPublished, "\(published.value)")
        }
        await expectReports([false])
        try await sync.download(photo)
        await expectReports([false, true])
        #expect(try store.attachments.evict(photo))
        await expectReports([false, true, false])
        // Another context of the store is observed too.
        let other = SyncContext(store: store, remote: fixture.remote, files: fixture.fileServer)
        try await other.download(photo)
        await expectReports([false, true, false, true])
        // The file is removed with its last object.
        let id = try #require(try await store.objects(Receipt.self).first()).localID
        try await store.write { _ = try $0.update(Receipt.self, localID: id) { $0.photo = nil } }
        #expect((await end.value as? TandemError)?.code == .unknownAttachment)
        #expect(await comesTrue { failure.value })
        withExtendedLifetime(subscription) {}
    }

    @Test func `an upload is reported from its beginning to its end`() async throws {
        let fixture = try PhotoFixture { $0.clock = SystemSyncClock() }
        let photo = try #require(try fixture.attached().photo)
        // The observer has no reference to the uploading context.
        let watcher = fixture.restarted(withFiles: false)
        let (reported, _) = follow(watcher.statuses(of: photo))
        #expect(await comesTrue { reported.value.map(\.state) == [.pending] })
        fixture.fileServer.whileUploading {
            let isReported = await comesTrue { reported.value.last?.state == .uploading(sent: 0) }
            #expect(isReported)
        }
        fixture.fileServer.next("upload", .fail(.refused(status: 403, message: "No.")))
        try await fixture.sync.push()
        #expect(await comesTrue { if case .failed = reported.value.last?.state { true } else { false } })
        try await fixture.sync.push()
        #expect(await comesTrue { reported.value.last?.state == .uploaded })
    }

    @Test func `an upload's progress is reported while it runs`() async throws {
        let fixture = try PhotoFixture { $0.clock = SystemSyncClock() }
        let photo = try #require(try fixture.attached("A", PhotoFixture.bytes(10_000)).photo)
        let (reported, _) = follow(fixture.sync.statuses(of: photo))
        #expect(await comesTrue { reported.value.map(\.state) == [.pending] })
        fixture.fileServer.whileUploading(after: 4000) {
            let isReported = await comesTrue {
                if case .uploading(let sent)? = reported.value.last?.state { sent > 0 && sent < 10_000 } else { false }
            }
            #expect(isReported, "\(reported.value)")
        }
        try await fixture.sync.push()
        #expect(await comesTrue { reported.value.last?.state == .uploaded })
    }

    @Test(arguments: [true, false])
    func `the bytes of an upload attempt are recorded across a restart`(isItsFault: Bool) async throws {
        let fixture = try PhotoFixture()
        let photo = try #require(try fixture.attached("A", PhotoFixture.bytes(10_000)).photo)
        let store = fixture.store
        func offset() async throws -> Int64? {
            try await store.read { try $0.pendingFiles(at: .distantFuture).first?.offset }
        }
        fixture.fileServer.next("upload", .breakAfter(4000, isItsFault ? nil : .notSent(PhotoServer.Broken())))
        try await fixture.sync.attemptPush()
        #expect(try await offset() == 4000)
        let status = try store.attachments.status(of: photo)
        #expect(status.attempts == (isItsFault ? 1 : 0))
        // The next attempt continues there, and an observer of the store alone sees it.
        let context = fixture.restarted { options in
            options.onFileStep = { step in
                guard case .began = step else { return }
                let status = try store.attachments.status(of: photo)
                #expect(status.state == .uploading(sent: 4000))
            }
        }
        #expect(try await context.push().isComplete)
        #expect(fixture.fileServer.received == 10_000)
        #expect(try store.attachments.status(of: photo).state == .uploaded)
    }

    @Test func `a partial upload that the server has dropped is not counted`() async throws {
        let fixture = try PhotoFixture()
        try fixture.attached("A", PhotoFixture.bytes(10_000))
        fixture.fileServer.next("upload", .breakAfter(4000))
        try await fixture.sync.push()
        fixture.fileServer.next("upload", .fail(.file(.hashMismatch)))
        try await fixture.sync.push()
        #expect(try await fixture.store.read { try $0.pendingFiles(at: .distantFuture).first?.offset } == 0)
    }
}
