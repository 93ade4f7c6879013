import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Two contexts on two stores of one file. A file is never uploaded by both at once.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct UploadLockTests {
    private func context(
        _ folder: borrowing TemporaryFolder, _ remote: ScriptedRemote, _ fileServer: PhotoServer
    ) throws -> (Store, SyncContext) {
        let store = try Store(at: folder.path(of: "a.tandem"), models: Receipt.self)
        var options = SyncContext.Options()
        options.uploadsInFlight = 1
        options.patience = .seconds(120)
        return (store, SyncContext(store: store, remote: remote, files: fileServer, options: options))
    }

    @Test func `each file is uploaded once, by the context that has the lock`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (remote, fileServer) = (ScriptedRemote(format: WireFormat(nestedJSON: true)), PhotoServer())
        let sides = [try context(folder, remote, fileServer), try context(folder, remote, fileServer)]
        defer { for (store, _) in sides { store.close() } }
        for number in 0..<6 {
            let (store, _) = sides[number % 2]
            let photo = try store.attachments.add(PhotoFixture.bytes(3000, seed: UInt8(number)), name: "чек.jpg")
            try await store.write { _ = try $0.insert(Receipt(shop: "\(number)", photo: photo)) }
        }
        let path = try #require(sides[0].0.uploadLockPath)
        let isFree = Mutex(false)
        fileServer.whileUploading {
            // flock distinguishes open files, not processes, so this represents another process.
            if let lock = try? ProcessLock.acquire(at: path) {
                isFree.withLock { $0 = true }
                lock.release()
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (_, sync) in sides { group.addTask { _ = try await sync.push() } }
            try await group.waitForAll()
        }
        #expect(fileServer.mostAtOnce == 1)
        #expect(fileServer.requests.count == 6 && Set(fileServer.requests).count == 6)
        #expect(!isFree.withLock { $0 })
        #expect(try await sides[0].0.objects(Receipt.self).all().allSatisfy(\.isSynced))
        #expect(try sides[1].0.checkIntegrity() == [])
    }

    @Test func `a file downloaded by two contexts is stored once`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (remote, fileServer) = (ScriptedRemote(format: WireFormat(nestedJSON: true)), PhotoServer())
        let sides = [try context(folder, remote, fileServer), try context(folder, remote, fileServer)]
        defer { for (store, _) in sides { store.close() } }
        let bytes = PhotoFixture.bytes(3000)
        let added = try sides[0].0.attachments.add(bytes, name: "чек.jpg")
        try await sides[0].0.write { _ = try $0.insert(Receipt(shop: "A", photo: added)) }
        try await sides[0].1.push()
        let photo = try #require(try await sides[1].0.objects(Receipt.self).all().first?.photo)
        #expect(try sides[1].0.attachments.evict(photo))
        let arrived = Counter()
        fileServer.whileDownloading {
            // Neither continues before both have arrived.
            _ = arrived.next()
            _ = await comesTrue { arrived.value == 2 }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (_, sync) in sides { group.addTask { try await sync.download(photo) } }
            try await group.waitForAll()
        }
        for (store, _) in sides {
            #expect(try Array(store.attachments.data(of: photo)) == bytes)
            #expect(try store.checkIntegrity() == [])
        }
    }
}
