import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The interface for synchronization: order of uploads, acknowledgements, downloads and the cache.
@Suite(.ownThreads) struct AttachmentUploadTests {
    private let now = Date(timeIntervalSinceReferenceDate: 1000)

    /// Sends the queued operations, and acknowledges them as a server that assigns its own IDs.
    private func push(_ store: Store) throws {
        for operation in try store.operations.all() {
            try store.write { tx in
                try tx.beginAttempt(operation.id)
                try tx.acknowledge(operation.id, serverID: ServerID("s-\(operation.localID)"), version: "1")
            }
        }
    }

    private func pending(_ store: Store, at date: Date? = nil) throws -> [FileID] {
        try store.read { try $0.pendingFiles(at: date ?? now).map(\.attachment.id) }
    }

    @Test(arguments: StoreKind.allCases) func `an object with a pending upload is not synced`(kind: StoreKind) throws {
        try kind.withStore(Album.self, ScanSlip.self) { store in
            let (cover, sketch) = (try store.attach("cover"), try store.attach("sketch"))
            let album = try store.write { try $0.insert(Album(title: "а", cover: cover, sketch: sketch)) }
            func isSynced() throws -> Bool? {
                try store.object(ofType: Album.self, forPrimaryKey: album.localID)?.isSynced
            }
            // No file is uploaded before the server knows its object.
            #expect(try pending(store) == [])
            try push(store)
            #expect(try store.operations.count() == 0 && isSynced() == false)
            // A file of a local-only property is never uploaded.
            #expect(try pending(store) == [cover.id])
            #expect(try store.checkIntegrity() == [])
            #expect(try store.write { try $0.sync.recordUploading(cover.id, offset: 3) })
            #expect(try store.attachments.status(of: cover).state == .uploading(sent: 3))
            let owners = try store.write {
                try $0.sync.acknowledgeUpload(of: cover.id, at: "https://e.org/1", etag: "t")
            }
            #expect(owners == [FileOwner(table: "Album", localID: album.localID, properties: ["cover"])])
            #expect(try isSynced() == true && pending(store) == [])
            #expect(try store.attachments.status(of: cover).state == .uploaded)
            #expect(try store.operations.count() == 0)
            #expect(try store.objects(Album.self).first()?.cover?.serverURL == "https://e.org/1")
            try store.expectFilesInOrder()
            // Changing a value and reverting it by delete and undelete give the same uploads.
            try store.write { try $0.update(Album.self, localID: album.localID) { $0.pages = [cover] } }
            try push(store)
            #expect(try isSynced() == true)
            let page = try store.attach("page")
            try store.write { try $0.update(Album.self, localID: album.localID) { $0.pages = [cover, page] } }
            try push(store)
            #expect(try isSynced() == false)
            try store.write { try $0.delete(Album.self, localID: album.localID) }
            #expect(try pending(store) == [])
            try store.write { try $0.undelete(Album.self, localID: album.localID) }
            #expect(try isSynced() == false && pending(store) == [page.id])
            // Replacing the file leaves nothing to upload.
            try store.write { try $0.update(Album.self, localID: album.localID) { $0.pages = [] } }
            try push(store)
            #expect(try isSynced() == true && pending(store) == [])
            try store.expectFilesInOrder()
            try store.expectSound()
        }
    }

    @Test func `the update that sends a URL has the value before the upload as its base`() throws {
        let store = try Store.inMemory(models: Album.self, BoundScan.self)
        let (known, fresh) = (try store.attach("1"), try store.attach("2"))
        try store.write { tx in
            try tx.insert(Album(title: "а", cover: fresh, pages: [known, fresh]))
            try tx.insert(BoundScan(scan: fresh))
        }
        try push(store)
        try store.write { tx in
            _ = try tx.sync.acknowledgeUpload(of: known.id, at: "u1", etag: nil)
            _ = try tx.sync.finishUpload(of: fresh.id, at: "u2", etag: nil, isSetByServer: false)
        }
        let bases = try store.operations.all().map(\.base)
        try #require(bases.count == 2)
        #expect(bases[0] == ["cover": .null, "pages": Migration.stored([stored(known, at: "u1")])])
        // A property that can't be nil was sent without the URL.
        #expect(bases[1] == ["scan": Migration.stored(stored(fresh))])
        #expect(try store.objects(BoundScan.self).first()?.scan.serverURL == "u2")
    }

    @Test func `a server's item does not make an object with a pending upload synced`() throws {
        let store = try Store.inMemory(models: Album.self)
        let cover = try store.attach("cover")
        var album = try store.applyServerObject(Album(title: "а", cover: cover), serverID: "s", version: "1")
        #expect(!album.isSynced && album.version == "1")
        album.title = "б"
        album = try store.applyServerObject(album, serverID: "s", version: "2")
        #expect(!album.isSynced && album.version == "2" && album.title == "б")
        #expect(try store.checkIntegrity() == [])
        // The server does not have the file yet.
        album.cover = nil
        album = try store.applyServerObject(album, serverID: "s", version: "3")
        #expect(!album.isSynced && album.version == "3" && album.cover?.id == cover.id)
        #expect(try pending(store) == [cover.id])
        try store.expectFilesInOrder()
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `uploads follow the order of their objects, and a shared file is uploaded once`() throws {
        let store = try Store.inMemory(models: Album.self, ScanSlip.self)
        let files = try (0..<3).map { try store.attach("\($0)") }
        try store.write { tx in
            try tx.insert(Album(title: "а", cover: files[1]))
            try tx.insert(Album(title: "б", cover: files[0], pages: [files[1]]))
            try tx.insert(ScanSlip(scan: files[2]))
            try tx.insert(ScanSlip(scan: files[0]))
        }
        try push(store)
        #expect(try pending(store) == [files[1].id, files[0].id, files[2].id])
        try store.write { try $0.sync.failUpload(of: files[1].id, reason: "503", retryAt: now.addingTimeInterval(10)) }
        #expect(try pending(store) == [files[0].id, files[2].id])
        #expect(try pending(store, at: now.addingTimeInterval(10)).count == 3)
        let status = try store.attachments.status(of: files[1])
        #expect(status.state == .failed(reason: "503") && status.attempts == 1)
        #expect(status.retryAt == now.addingTimeInterval(10))
        // The file is shared, so both owners are returned.
        let owners = try store.write { try $0.sync.acknowledgeUpload(of: files[0].id, at: "u", etag: nil) }
        #expect(owners.map(\.table) == ["Album", "ScanSlip"])
        #expect(try store.objects(ScanSlip.self).all().compactMap(\.scan?.serverURL) == ["u"])
        // The file has no owner any more.
        _ = try store.write { try $0.delete($0.objects(ScanSlip.self)) }
        try push(store)
        #expect(try !store.write { try $0.sync.recordUploading(files[2].id, offset: 1) })
        #expect(try store.write { try $0.sync.acknowledgeUpload(of: files[2].id, at: "u", etag: nil) } == [])
        try store.write { try $0.sync.failUpload(of: files[2].id, reason: "x", retryAt: nil) }
        try store.expectFilesInOrder()
    }

    @Test(arguments: StoreKind.allCases)
    func `the least recently read file is evicted first and can be downloaded again`(
        kind: StoreKind
    ) throws {
        let clock = ManualClock()
        var configuration = Store.Configuration()
        configuration.attachmentCacheSize = 25
        configuration.now = clock.now
        try kind.withStore(Album.self, configuration: configuration) { store in
            let files = try (0..<4).map { try store.attach(String(repeating: "\($0)", count: 10)) }
            try store.write { try $0.insert(Album(title: "а", pages: files)) }
            for file in files.prefix(3) {
                clock.advance(by: 1)
                try store.write { _ = try $0.sync.acknowledgeUpload(of: file.id, at: "u", etag: nil) }
                clock.advance(by: 1)
                if file == files[1] { _ = try store.attachments.data(of: files[0]) }
                try store.attachments.trimCache()
            }
            #expect(try files.map { try store.attachments.status(of: $0).isOnDevice } == [true, false, true, true])
            expectError(.attachmentNotHere) { try store.attachments.data(of: files[1]) }
            #expect(try store.attachments.diskURL(of: files[1]) == nil)
            try store.expectFilesInOrder()
            // A downloaded file evicts another one. Pending files stay.
            var download = try #require(try store.attachments.download(files[1]))
            try download.write(Data("1111111112".utf8))
            expectError(.fileMismatch) { try download.finish() }
            download = try #require(try store.attachments.download(files[1]))
            expectError(.fileMismatch) { try download.write(Data("11111111111".utf8)) }
            download = try #require(try store.attachments.download(files[1]))
            try download.write(Data("11111".utf8))
            try download.write(Data("11111".utf8))
            clock.advance(by: 1)
            #expect(try download.finish())
            #expect(try store.attachments.download(files[1])?.source == nil)
            #expect(try files.map { try store.attachments.status(of: $0).isOnDevice } == [false, true, true, true])
            #expect(try store.text(of: files[1]) == "1111111111")
            try store.expectFilesInOrder()
            #expect(try store.attachments.evict(files[2]) && !store.attachments.evict(files[3]))
            // After a rollback, nothing was evicted.
            struct Stop: Error {}
            try store.write { tx in
                try? tx.store.write { inner in
                    try inner.evict(files[1].id)
                    throw Stop()
                }
            }
            #expect(try store.text(of: files[1]) == "1111111111")
            try store.expectFilesInOrder()
        }
    }

    @Test func `a download does not overwrite newer information about its file`() throws {
        let store = try Store.inMemory(models: Album.self)
        let cover = Attachment(id: someFileID(), name: "", contentType: "", size: nil, sha256: nil, serverURL: "u")
        try store.write { try $0.insert(Album(title: "а", cover: cover)) }
        func download(_ sql: String) throws -> Bool {
            try store.write {
                try $0.connection.execute("UPDATE __files SET size = NULL, sha256 = NULL, url = 'u', etag = NULL")
            }
            let download = try #require(try store.attachments.download(cover))
            try download.write(Data("12345".utf8))
            #expect(try !download.isOutdated())
            try store.write { try $0.connection.execute("UPDATE __files SET \(sql)") }
            #expect(try download.isOutdated())
            return try download.finish()
        }
        let digest = try #require(store.attach("12345").sha256)
        let other = String(repeating: "0", count: 64)
        for change in [
            "size = 4", "size = NULL, sha256 = '\(other)'", "sha256 = NULL, url = 'v'", "etag = 't'",
        ] {
            #expect(try !download(change))
            #expect(try store.sql("SELECT blob FROM __files").first?[0] == .null)
            try store.expectFilesInOrder()
        }
        // Bytes with the right hash are accepted from any URL.
        #expect(try download("url = 'w', sha256 = '\(digest)'"))
        #expect(try store.text(of: cover) == "12345")
        try store.expectFilesInOrder()
    }

    @Test func `a download of unknown size has a limit`() throws {
        let store = try Store.inMemory(models: Album.self)
        let cover = Attachment(id: someFileID(), name: "", contentType: "", size: nil, sha256: nil, serverURL: "u")
        try store.write { try $0.insert(Album(title: "а", cover: cover)) }
        let download = try #require(try store.attachments.download(cover, atMost: 4))
        expectError(.fileMismatch) { try download.write(Data("12345".utf8)) }
        try store.expectFilesInOrder()
    }

    @Test(arguments: StoreKind.files) func `a smaller cache limit applies from the next opening`(kind: StoreKind) throws
    {
        let folder = try TestFolder(kind)
        var store = try kind.open(at: folder.file(), [Album.self])
        // An empty file is evicted too if the limit is zero.
        let files = try ["0", "", "2"].map { try store.attach($0) }
        try store.write { tx in
            try tx.insert(Album(title: "а", pages: files))
            for file in files.dropLast() { _ = try tx.sync.acknowledgeUpload(of: file.id, at: "u", etag: nil) }
        }
        store.close()
        var configuration = Store.Configuration()
        configuration.attachmentCacheSize = 0
        store = try kind.open(at: folder.file(), [Album.self], configuration: configuration)
        defer { store.close() }
        #expect(try files.map { try store.attachments.status(of: $0).isOnDevice } == [false, false, true])
        try store.expectFilesInOrder()
    }
}
