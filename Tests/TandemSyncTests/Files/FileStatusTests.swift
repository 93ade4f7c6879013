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
    ) -> (told: Synchronized<[AttachmentStatus]>, end: Task<(any Error)?, Never>) {
        let told = Synchronized<[AttachmentStatus]>([])
        let end = Task { () -> (any Error)? in
            do {
                for try await status in statuses { told.change { $0.append(status) } }
                return nil
            } catch {
                return error
            }
        }
        return (told, end)
    }

    @Test func `a download's progress and its end are reported`() async throws {
        let desk = try PhotoFixture()
        try desk.attached()
        try await desk.sync.push()
        let (store, sync) = try desk.other()
        try await sync.synchronize()
        let photo = try #require(try await store.objects(Receipt.self).all().first?.photo)
        let (told, end) = follow(sync.statuses(of: photo))
        let published = Synchronized<[AttachmentStatus]>([])
        let failure = Synchronized(false)
        let subscription = sync.statusPublisher(of: photo).sink { completion in
            if case .failure(TandemError.Code.unknownAttachment) = completion { failure.change { $0 = true } }
        } receiveValue: { status in
            published.change { $0.append(status) }
        }
        func tell(_ expected: [Bool]) async {
            let isTold = await comesTrue { told.value.map(\.isOnDevice) == expected }
            #expect(isTold, "\(told.value)")
            let isPublished = await comesTrue { published.value.map(\.isOnDevice) == expected }
            #expect(isPublished, "\(published.value)")
        }
        await tell([false])
        try await sync.download(photo)
        await tell([false, true])
        #expect(try store.attachments.evict(photo))
        await tell([false, true, false])
        // Another context of the store is observed too.
        let other = SyncContext(store: store, remote: desk.remote, files: desk.shelf)
        try await other.download(photo)
        await tell([false, true, false, true])
        // The file is removed with its last object.
        let id = try #require(try await store.objects(Receipt.self).first()).localID
        try await store.write { _ = try $0.update(Receipt.self, localID: id) { $0.photo = nil } }
        #expect((await end.value as? TandemError)?.code == .unknownAttachment)
        #expect(await comesTrue { failure.value })
        withExtendedLifetime(subscription) {}
    }

    @Test func `an upload is reported from its beginning to its end`() async throws {
        let desk = try PhotoFixture { $0.clock = SystemSyncClock() }
        let photo = try #require(try desk.attached().photo)
        // The observer has no reference to the uploading context.
        let watcher = desk.restarted(withFiles: false)
        let (told, _) = follow(watcher.statuses(of: photo))
        #expect(await comesTrue { told.value.map(\.state) == [.pending] })
        desk.shelf.whileUploading {
            let isTold = await comesTrue { told.value.last?.state == .uploading(sent: 0) }
            #expect(isTold)
        }
        desk.shelf.next("upload", .fail(.refused(status: 403, message: "No.")))
        try await desk.sync.push()
        #expect(await comesTrue { if case .failed = told.value.last?.state { true } else { false } })
        try await desk.sync.push()
        #expect(await comesTrue { told.value.last?.state == .uploaded })
    }

    @Test func `an upload's progress is reported while it runs`() async throws {
        let desk = try PhotoFixture { $0.clock = SystemSyncClock() }
        let photo = try #require(try desk.attached("A", PhotoFixture.bytes(10_000)).photo)
        let (told, _) = follow(desk.sync.statuses(of: photo))
        #expect(await comesTrue { told.value.map(\.state) == [.pending] })
        desk.shelf.whileUploading(after: 4000) {
            let isTold = await comesTrue {
                if case .uploading(let sent)? = told.value.last?.state { sent > 0 && sent < 10_000 } else { false }
            }
            #expect(isTold, "\(told.value)")
        }
        try await desk.sync.push()
        #expect(await comesTrue { told.value.last?.state == .uploaded })
    }

    @Test(arguments: [true, false])
    func `the bytes of an upload attempt are recorded across a restart`(isItsFault: Bool) async throws {
        let desk = try PhotoFixture()
        let photo = try #require(try desk.attached("A", PhotoFixture.bytes(10_000)).photo)
        let store = desk.store
        func offset() async throws -> Int64? {
            try await store.read { try $0.pendingFiles(at: .distantFuture).first?.offset }
        }
        desk.shelf.next("upload", .breakAfter(4000, isItsFault ? nil : .notSent(PhotoServer.Broken())))
        try await desk.sync.attemptPush()
        #expect(try await offset() == 4000)
        let status = try store.attachments.status(of: photo)
        #expect(status.attempts == (isItsFault ? 1 : 0))
        // The next attempt continues there, and an observer of the store alone sees it.
        let context = desk.restarted { options in
            options.onFileStep = { step in
                guard case .began = step else { return }
                let status = try store.attachments.status(of: photo)
                #expect(status.state == .uploading(sent: 4000))
            }
        }
        #expect(try await context.push().isComplete)
        #expect(desk.shelf.received == 10_000)
        #expect(try store.attachments.status(of: photo).state == .uploaded)
    }

    @Test func `a partial upload that the server has dropped is not counted`() async throws {
        let desk = try PhotoFixture()
        try desk.attached("A", PhotoFixture.bytes(10_000))
        desk.shelf.next("upload", .breakAfter(4000))
        try await desk.sync.push()
        desk.shelf.next("upload", .fail(.file(.hashMismatch)))
        try await desk.sync.push()
        #expect(try await desk.store.read { try $0.pendingFiles(at: .distantFuture).first?.offset } == 0)
    }
}
