import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

@Suite(.ownThreads) struct DownloadTests {
    /// The second device, which knows of the photograph.
    private func second(_ desk: PhotoDesk, _ bytes: [UInt8]) async throws -> (Store, SyncContext, Tandem.Attachment) {
        try desk.attached("A", bytes)
        try await desk.sync.push()
        desk.shelf.forgetRequests()
        let (store, sync) = try desk.other()
        try await sync.synchronize()
        return (store, sync, try #require(try await store.objects(Receipt.self).all().first?.photo))
    }

    @Test func `one download is for all who ask, and what is here is not fetched again`() async throws {
        let desk = try PhotoDesk()
        let bytes = PhotoDesk.bytes(20_000)
        let (store, sync, photo) = try await second(desk, bytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { try await sync.download(photo) } }
            try await group.waitForAll()
        }
        try await sync.download(photo)
        #expect(desk.shelf.requests.count == 1)
        #expect(try Array(store.attachments.data(of: photo)) == bytes)
        #expect(try store.attachments.status(of: photo).isOnDevice)
    }

    @Test func `a line that breaks is taken up where it broke`() async throws {
        let desk = try PhotoDesk()
        let bytes = PhotoDesk.bytes(10_000)
        let (store, sync, photo) = try await second(desk, bytes)
        desk.shelf.next("download", .breakAfter(4000))
        desk.shelf.next("download", .breakAfter(10_000))
        try await sync.download(photo)
        let url = try #require(photo.serverURL)
        #expect(desk.shelf.requests == ["download \(url) from 0", "download \(url) from 4000"])
        #expect(try Array(store.attachments.data(of: photo)) == bytes)
    }

    @Test func `other bytes than were attached are not kept`() async throws {
        let desk = try PhotoDesk()
        let (store, sync, photo) = try await second(desk, PhotoDesk.bytes())
        desk.shelf.next("download", .garble)
        await #expect { try await sync.download(photo) } throws: { ($0 as? TandemError)?.code == .fileMismatch }
        #expect(try !store.attachments.status(of: photo).isOnDevice)
        // More bytes than there should be are refused as they come.
        desk.shelf.put(PhotoDesk.bytes(50_000), at: try #require(photo.serverURL))
        await #expect(throws: (any Error).self) { try await sync.download(photo) }
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `what the server does not have is a typed error`() async throws {
        let desk = try PhotoDesk()
        let (_, sync, photo) = try await second(desk, PhotoDesk.bytes())
        desk.shelf.next("download", .fail(.notFound))
        await #expect { try await sync.download(photo) } throws: { ($0 as? SyncError)?.code == .refused }
        desk.shelf.next("download", .fail(.unreachable))
        await #expect { try await sync.download(photo) } throws: { ($0 as? SyncError)?.code == .unreachable }
        try await sync.download(photo)
    }

    @Test func `what has no room in the cache can be read when it was fetched, and goes when the next comes`()
        async throws
    {
        let desk = try PhotoDesk(cacheSize: 0)
        for shop in ["A", "B"] { try desk.attached(shop) }
        try await desk.sync.push()
        let photos = try await desk.store.objects(Receipt.self).all().compactMap(\.photo)
        for (photo, other) in zip(photos, photos.reversed()) {
            try await desk.sync.download(photo)
            #expect(try Array(desk.store.attachments.data(of: photo)) == PhotoDesk.bytes())
            #expect(try !desk.store.attachments.status(of: other).isOnDevice)
        }
    }

    enum Damage: CaseIterable { case missing, short, empty }

    @Test(arguments: Damage.allCases, StoreKind.allCases)
    func `what is missing in the folder, or was cut there, is fetched again`(
        damage: Damage, kind: StoreKind
    ) async throws {
        let desk = try PhotoDesk()
        let bytes = PhotoDesk.bytes(200_000)
        try desk.attached("A", bytes)
        try await desk.sync.push()
        try await kind.withStore(Receipt.self, Passport.self) { store in
            let sync = desk.restarted(on: store)
            try await sync.synchronize()
            let photo = try #require(try await store.objects(Receipt.self).all().first?.photo)
            try await sync.download(photo)
            let path = try #require(try store.attachments.diskURL(of: photo)).path
            switch damage {
            case .missing: unlink(path)
            case .short: truncate(path, 100_000)
            case .empty: truncate(path, 0)
            }
            desk.shelf.forgetRequests()
            try await sync.download(photo)
            try await sync.download(photo)
            #expect(desk.shelf.requests.count == 1)
            #expect(try Array(store.attachments.data(of: photo)) == bytes)
            #expect(try store.checkIntegrity() == [])
            // What was changed in its place is not looked for, and is fetched when it was taken off the device.
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

    @Test func `what waits to be uploaded and is missing is not asked of the server`() async throws {
        let desk = try PhotoDesk()
        let photo = try #require(try desk.attached().photo)
        unlink(try #require(try desk.store.attachments.diskURL(of: photo)).path)
        try await desk.sync.download(photo)
        #expect(desk.shelf.requests == [])
        #expect(try !desk.store.attachments.evict(photo))
    }

    @Test(arguments: [true, false])
    func `another ETag of the same bytes is no other file, where the hash is known`(isCut: Bool) async throws {
        let desk = try PhotoDesk(cacheSize: 0)
        let bytes = PhotoDesk.bytes(10_000)
        let photo = try #require(try desk.attached("A", bytes).photo)
        try await desk.sync.push()
        let url = try #require(try desk.receipts().first?.photo?.serverURL)
        desk.shelf.retag(url)
        if isCut { desk.shelf.next("download", .breakAfter(4000)) }
        try await desk.sync.download(photo)
        #expect(try Array(desk.store.attachments.data(of: photo)) == bytes)
    }

    @Test func `one who stops waiting stops nobody else`() async throws {
        let desk = try PhotoDesk()
        let (store, sync, photo) = try await second(desk, PhotoDesk.bytes(50_000))
        let first = Task { try await sync.download(photo) }
        let other = Task { try await sync.download(photo) }
        first.cancel()
        try await other.value
        _ = await first.result
        #expect(try store.attachments.status(of: photo).isOnDevice)
    }
}
