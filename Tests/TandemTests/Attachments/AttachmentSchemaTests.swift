import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Tables, triggers and uses of files through schema changes.
@Suite(.ownThreads) struct AttachmentSchemaTests {
    enum Old {
        @Model(table: "Album") struct Album { @Folded var title: String }
    }
    enum Renamed {
        @Model(table: "Album") struct Album {
            @Folded var title: String
            @Renamed(from: "cover") @Named(column: "front") var front: Attachment?
            var pages: [Attachment] = []
        }
        @Model(table: "Volume", renamedFrom: "Album") struct Volume {
            @Folded var title: String
            var cover: Attachment?
            var pages: [Attachment] = []
            @LocalOnly var sketch: Attachment?
        }
    }
    enum Sent {
        @Model(table: "Album") struct Album {
            @Folded var title: String
            var cover: Attachment?
            var pages: [Attachment] = []
            var sketch: Attachment?
        }
    }

    enum Reused {
        @Model(table: "Album") struct Sheet {
            var name: String
            var scan: Attachment?
        }
    }

    private func withAlbum(
        _ kind: StoreKind, then models: [any Model.Type],
        configuration: Store.Configuration = Store.Configuration(),
        _ body: (Store, _ cover: Attachment, _ page: Attachment, _ sketch: Attachment) throws -> Void
    ) throws {
        let folder = try TestFolder(kind)
        var store = try kind.open(at: folder.file(), [Album.self])
        let (cover, page, sketch) = (try store.attach("cover"), try store.attach("page"), try store.attach("sketch"))
        try store.write { try $0.insert(Album(title: "Лето", cover: cover, pages: [page, cover], sketch: sketch)) }
        try store.expectFilesInOrder()
        store.close()
        store = try kind.open(at: folder.file(), models, configuration: configuration)
        defer { store.close() }
        try body(store, stored(cover), stored(page), stored(sketch))
        try store.expectFilesInOrder()
    }

    @Test func `a model without attachments has no triggers and its store no folder`() throws {
        let folder = try TestFolder()
        let store = try Store(at: folder.file(), models: Card.self, Person.self, Badge.self)
        defer { store.close() }
        try store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        #expect(
            try store.sql("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name").map { $0[0] } == [
                .text("__file_uses_delete"), .text("__files_forget"), .text("__files_leave"), .text("__files_sent"),
                .text("__files_unanswered"),
            ])
        #expect(!FileManager.default.fileExists(atPath: folder.file() + "-files"))
        // A model with attachment properties has no folder either before the first file.
        let albums = try Store(at: folder.file("albums.tandem"), models: Album.self)
        defer { albums.close() }
        try albums.write { try $0.insert(Album(title: "Лето")) }
        #expect(try albums.checkIntegrity() == [])
        #expect(!FileManager.default.fileExists(atPath: folder.file("albums.tandem") + "-files"))
    }

    @Test(arguments: StoreKind.files) func `uses stay correct if an attachment property is renamed`(
        kind: StoreKind
    ) throws {
        try withAlbum(kind, then: [Renamed.Album.self]) { store, cover, page, sketch in
            let album = try #require(try store.objects(Renamed.Album.self).first())
            #expect(album.front == cover && album.pages == [page, cover])
            #expect(try store.text(of: album.front) == "cover")
            #expect(try store.fileUses() == ["Album 1 \(cover.id)", "Album 1 \(page.id)"])
            // The file of the removed property was removed too.
            #expect(try !store.knownFiles().contains(sketch.id.rawValue))
            try store.write { try $0.update(Renamed.Album.self, localID: album.localID) { $0.front = nil } }
            #expect(try store.knownFiles().count == 2)
            try store.write { try $0.update(Renamed.Album.self, localID: album.localID) { $0.pages = [] } }
            #expect(try store.knownFiles() == [] && store.blobs() == [])
        }
    }

    @Test(arguments: StoreKind.files) func `uses stay correct if a model is renamed`(kind: StoreKind) throws {
        try withAlbum(kind, then: [Renamed.Volume.self]) { store, cover, page, sketch in
            #expect(
                try store.fileUses() == ["Volume 1 \(cover.id)", "Volume 1 \(page.id)", "Volume 1 \(sketch.id) here"])
            _ = try store.write { try $0.delete($0.objects(Renamed.Volume.self)) }
            #expect(try store.blobs() == [])
        }
    }

    @Test(arguments: StoreKind.files) func `removing a property removes its files`(kind: StoreKind) throws {
        try withAlbum(kind, then: [Old.Album.self, ScanSlip.self]) { store, _, _, _ in
            let (known, uses) = (try store.knownFiles(), try store.fileUses())
            #expect(known == [] && uses == [])
            #expect(try store.blobs() == [])
        }
    }

    @Test(arguments: StoreKind.files) func `an attachment property can be added to existing objects`(
        kind: StoreKind
    ) throws {
        let folder = try TestFolder(kind)
        var store = try kind.open(at: folder.file(), [Old.Album.self])
        let old = try store.write { try $0.insert(Old.Album(title: "Лето")) }
        store.close()
        store = try kind.open(at: folder.file(), [Album.self])
        defer { store.close() }
        let cover = try store.attach("cover")
        try store.write { try $0.update(Album.self, localID: old.localID) { $0.cover = cover } }
        #expect(try store.text(of: store.object(ofType: Album.self, forPrimaryKey: old.localID)?.cover) == "cover")
        try store.expectFilesInOrder()
    }

    @Test func `files are uploaded if a local-only property is synchronized from now on`() throws {
        try withAlbum(.file, then: [Sent.Album.self]) { store, cover, page, sketch in
            let uses = try store.fileUses()
            #expect(uses == ["Album 1 \(cover.id)", "Album 1 \(page.id)", "Album 1 \(sketch.id)"])
        }
    }

    @Test(arguments: StoreKind.files) func `a model that the app no longer has keeps its files`(kind: StoreKind) throws
    {
        let folder = try TestFolder(kind)
        var store = try kind.open(at: folder.file(), [Album.self, ScanSlip.self])
        let (cover, scan) = (try store.attach("cover"), try store.attach("scan"))
        try store.write { tx in
            try tx.insert(Album(title: "Лето", cover: cover))
            try tx.insert(ScanSlip(scan: scan))
        }
        store.close()
        store = try kind.open(at: folder.file(), [ScanSlip.self])
        #expect(try store.knownFiles().count == 2 && store.blobs().count == 2)
        _ = try store.write { try $0.delete($0.objects(ScanSlip.self)) }
        #expect(try store.knownFiles() == [cover.id.rawValue])
        store.close()
        store = try kind.open(at: folder.file(), [Album.self, ScanSlip.self])
        defer { store.close() }
        #expect(try store.text(of: store.objects(Album.self).first()?.cover) == "cover")
        try store.expectFilesInOrder()
    }

    @Test(arguments: StoreKind.files) func `removing the last model with attachments removes the files`(
        kind: StoreKind
    ) throws {
        var configuration = Store.Configuration()
        configuration.schemaVersion = 1
        configuration.migrate(to: 1) { try $0.deleteModel("Album") }
        for isOpenElsewhere in [false, true] {
            let folder = try TestFolder(kind)
            let store = try kind.open(at: folder.file(), [Album.self])
            let cover = try store.attach("cover")
            try store.write { try $0.insert(Album(title: "Лето", cover: cover)) }
            if !isOpenElsewhere { store.close() }
            let badges = try kind.open(at: folder.file(), [Badge.self], configuration: configuration)
            #expect(try Files.below(folder.file() + "-files") == [])
            for store in [badges, store] { store.close() }
        }
    }

    @Test(arguments: StoreKind.files) func `a migration step that deletes objects removes their files`(
        kind: StoreKind
    ) throws {
        var configuration = Store.Configuration()
        configuration.schemaVersion = 1
        configuration.migrate(to: 1) { migration in
            try migration.sql("DELETE FROM ScanSlip")
            try migration.sql("DELETE FROM __operations")
        }
        let folder = try TestFolder(kind)
        var store = try kind.open(at: folder.file(), [ScanSlip.self])
        let scan = try store.attach("scan")
        try store.write { try $0.insert(ScanSlip(scan: scan)) }
        store.close()
        store = try kind.open(at: folder.file(), [ScanSlip.self], configuration: configuration)
        #expect(try store.knownFiles() == [] && store.blobs() == [])
        try store.expectFilesInOrder()
        store.close()
        configuration.migrate(to: 1) { try $0.deleteModel("Album") }
        try withAlbum(kind, then: [ScanSlip.self], configuration: configuration) { store, _, _, _ in
            let known = try store.knownFiles()
            #expect(try known == [] && store.blobs() == [])
        }
    }

    @Test(arguments: StoreKind.files)
    func `a new model with the table of a deleted model keeps the files that a step assigns to it`(
        kind: StoreKind
    ) throws {
        var configuration = Store.Configuration()
        configuration.schemaVersion = 1
        configuration.migrate(to: 1) { migration in
            try migration.enumerateOldObjects(of: "Album") { old, tx in
                let cover = try old.value("cover", as: Attachment?.self)
                _ = try tx.insert(Reused.Sheet(name: old.value("title", as: String.self), scan: cover))
            }
            try migration.deleteModel("Album")
        }
        try withAlbum(kind, then: [Reused.Sheet.self], configuration: configuration) { store, cover, _, _ in
            let sheet = try #require(try store.objects(Reused.Sheet.self).first())
            #expect(sheet.name == "Лето" && sheet.scan == cover)
            #expect(try store.text(of: sheet.scan) == "cover")
            // The files that only the old object used are removed, with their uses.
            #expect(try store.fileUses() == ["Album 1 \(cover.id)"])
            let known = try store.knownFiles()
            #expect(try known == [cover.id.rawValue] && store.blobs().count == 1)
        }
    }

    /// Makes a store of format 2 of each kind by removing the additions of format 3 from a new store.
    @Test(arguments: StoreKind.files) func `a store of format 2 is upgraded`(kind: StoreKind) throws {
        let folder = try TestFolder(kind)
        var store = try kind.open(at: folder.file(), [Old.Album.self])
        try store.write { try $0.insert(Old.Album(title: "Лето")) }
        try store.lowerToFormatTwo()
        store.close()
        store = try kind.open(at: folder.file(), [Album.self])
        defer { store.close() }
        #expect(try store.sql("SELECT value FROM __settings WHERE key = 'formatVersion'")[0][0] == .integer(4))
        let cover = try store.attach("cover")
        try store.write { tx in try tx.update(tx.objects(Album.self)) { $0.cover = cover } }
        #expect(try store.operations.count() == 1)
        try store.expectFilesInOrder()
        try store.expectSound()
    }

    @Test func `a table whose name needs quoting has its triggers`() throws {
        let store = try Store.inMemory(models: Odd.self)
        let scan = try store.attach("scan")
        let odd = try store.write { try $0.insert(Odd(scan: scan)) }
        #expect(try store.fileUses() == ["o'd\"d 1 \(scan.id)"])
        try store.expectFilesInOrder()
        _ = try store.write { try $0.delete(odd) }
        #expect(try store.blobs() == [])
    }

    @Model(table: "o'd\"d") struct Odd {
        @Named(column: "sc'a\"n") var scan: Attachment?
    }
}

extension Store {
    func lowerToFormatTwo() throws {
        try writer.queue.unsafeReentrantWrite { _ in
            writer.connection.finalizeStatements()
            try writer.connection.execute(
                """
                DROP TABLE __files; DROP TABLE __file_uses; DROP TABLE __file_garbage; DROP TABLE __file_deletions;
                DROP TABLE __file_uploads; UPDATE __settings SET value = 2 WHERE key = 'formatVersion'
                """)
        }
    }
}
