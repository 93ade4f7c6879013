import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

@Suite(.ownThreads) struct DownloadTests {
    /// The second device, which knows the photograph.
    private func second(_ fixture: PhotoFixture, _ bytes: [UInt8]) async throws -> (Store, SyncContext, Attachment) {
        try fixture.attached("A", bytes)
        try await fixture.sync.push()
        fixture.fileServer.forgetRequests()
        let (store, sync) = try fixture.other()
        try await sync.synchronize()
        return (store, sync, try #require(try await store.objects(Receipt.self).all().first?.photo))
    }

    @Test func `concurrent requests share one download, and a local file is not downloaded again`() async throws {
        let fixture = try PhotoFixture()
        let bytes = PhotoFixture.bytes(20_000)
        let (store, sync, photo) = try await second(fixture, bytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { try await sync.download(photo) } }
            try await group.waitForAll()
        }
        try await sync.download(photo)
        #expect(fixture.fileServer.requests.count == 1)
        #expect(try Array(store.attachments.data(of: photo)) == bytes)
        #expect(try store.attachments.status(of: photo).isOnDevice)
    }

    @Test func `a download continues after a broken connection`() async throws {
        let fixture = try PhotoFixture()
        let bytes = PhotoFixture.bytes(10_000)
        let (store, sync, photo) = try await second(fixture, bytes)
        fixture.fileServer.next("download", .breakAfter(4000))
        fixture.fileServer.next("download", .breakAfter(10_000))
        try await sync.download(photo)
        let url = try #require(photo.serverURL)
        #expect(fixture.fileServer.requests == ["download \(url) from 0", "download \(url) from 4000"])
        #expect(try Array(store.attachments.data(of: photo)) == bytes)
    }

    @Test func `a download with other bytes than the attached ones is discarded`() async throws {
        let fixture = try PhotoFixture()
        let (store, sync, photo) = try await second(fixture, PhotoFixture.bytes())
        fixture.fileServer.next("download", .garble)
        await #expect { try await sync.download(photo) } throws: { ($0 as? TandemError)?.code == .fileMismatch }
        #expect(try !store.attachments.status(of: photo).isOnDevice)
        // Excess bytes are refused as they arrive.
        fixture.fileServer.put(PhotoFixture.bytes(50_000), at: try #require(photo.serverURL))
        await #expect(throws: (any Error).self) { try await sync.download(photo) }
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `a file missing on the server is a typed error`() async throws {
        let fixture = try PhotoFixture()
        let (_, sync, photo) = try await second(fixture, PhotoFixture.bytes())
        fixture.fileServer.next("download", .fail(.notFound))
        await #expect { try await sync.download(photo) } throws: { ($0 as? SyncError)?.code == .refused }
        fixture.fileServer.next("download", .fail(.unreachable))
        await #expect { try await sync.download(photo) } throws: { ($0 as? SyncError)?.code == .unreachable }
        try await sync.download(photo)
    }

    @Test func `a file larger than the cache is readable until the next download`()
        async throws
    {
        let fixture = try PhotoFixture(cacheSize: 0)
        for shop in ["A", "B"] { try fixture.attached(shop) }
        try await fixture.sync.push()
        let photos = try await fixture.store.objects(Receipt.self).all().compactMap(\.photo)
        for (photo, other) in zip(photos, photos.reversed()) {
            try await fixture.sync.download(photo)
            #expect(try Array(fixture.store.attachments.data(of: photo)) == PhotoFixture.bytes())
            #expect(try !fixture.store.attachments.status(of: other).isOnDevice)
        }
    }

    enum Damage: CaseIterable { case missing, short, empty }

    @Test(arguments: Damage.allCases, StoreKind.allCases)
    func `a missing or truncated local file is downloaded again`(
        damage: Damage, kind: StoreKind
    ) async throws {
        let fixture = try PhotoFixture()
        let bytes = PhotoFixture.bytes(200_000)
        try fixture.attached("A", bytes)
        try await fixture.sync.push()
        try await kind.withStore(Receipt.self, Passport.self) { store in
            let sync = fixture.restarted(on: store)
            try await sync.synchronize()
            let photo = try #require(try await store.objects(Receipt.self).all().first?.photo)
            try await sync.download(photo)
            let path = try #require(try store.attachments.diskURL(of: photo)).path
            switch damage {
            case .missing: unlink(path)
            case .short: truncate(path, 100_000)
            case .empty: truncate(path, 0)
            }
            fixture.fileServer.forgetRequests()
            try await sync.download(photo)
            try await sync.download(photo)
            #expect(fixture.fileServer.requests.count == 1)
            #expect(try Array(store.attachments.data(of: photo)) == bytes)
            #expect(try store.checkIntegrity() == [])
            // A changed local file is not detected, and is downloaded again after an eviction.
            let other = try #require(try store.attachments.diskURL(of: photo))
            let file = try FileHandle(forUpdating: other)
            try file.seek(toOffset: 150_000)
            try file.write(contentsOf: [0, 0, 0, 0])
            try file.close()
            #expect(throws: TandemError.self) { try store.attachments.verify(photo) }
            #expect(try store.attachments.evict(photo))
            try await sync.download(photo)
            try store.attachments.verify(photo)
        }
    }

    @Test func `a missing pending file is not requested from the server`() async throws {
        let fixture = try PhotoFixture()
        let photo = try #require(try fixture.attached().photo)
        unlink(try #require(try fixture.store.attachments.diskURL(of: photo)).path)
        try await fixture.sync.download(photo)
        #expect(fixture.fileServer.requests == [])
        #expect(try !fixture.store.attachments.evict(photo))
    }

    @Test(arguments: [true, false])
    func `another ETag for the same bytes is accepted if the hash is known`(isCut: Bool) async throws {
        let fixture = try PhotoFixture(cacheSize: 0)
        let bytes = PhotoFixture.bytes(10_000)
        let photo = try #require(try fixture.attached("A", bytes).photo)
        try await fixture.sync.push()
        let url = try #require(try fixture.receipts().first?.photo?.serverURL)
        fixture.fileServer.retag(url)
        if isCut { fixture.fileServer.next("download", .breakAfter(4000)) }
        try await fixture.sync.download(photo)
        #expect(try Array(fixture.store.attachments.data(of: photo)) == bytes)
    }

    @Test func `a cancelled waiter does not cancel a shared download`() async throws {
        let fixture = try PhotoFixture()
        let (store, sync, photo) = try await second(fixture, PhotoFixture.bytes(50_000))
        let first = Task { try await sync.download(photo) }
        let other = Task { try await sync.download(photo) }
        first.cancel()
        try await other.value
        _ = await first.result
        #expect(try store.attachments.status(of: photo).isOnDevice)
    }
}
