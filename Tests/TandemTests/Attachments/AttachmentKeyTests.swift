import Foundation
import GRDB
import SQLiteCipher
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The keys of attachments' files in copies of a store and after a change of its key.
@Suite(.ownThreads) struct AttachmentKeyTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private static let otherKey = CipherKey.raw([UInt8](1...32))

    private func fill(_ store: Store, _ titles: String...) throws {
        for title in titles {
            let file = try store.attach("фото \(title)")
            try store.write { try $0.insert(Album(title: title, cover: file)) }
        }
    }

    private func expectFiles(
        _ store: Store, _ titles: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for title in titles {
            let album = try store.objects(Album.self).where { $0.title == title }.first()
            #expect(try store.text(of: album?.cover) == "фото \(title)", sourceLocation: sourceLocation)
        }
        try store.expectFilesInOrder(sourceLocation: sourceLocation)
    }

    /// Returns the number of a store's files that a key opens.
    private func count(_ path: String, openedBy key: FileKey) throws -> Int {
        try Files.below(path + "-files").count { name in
            let context = (name as NSString).lastPathComponent
            return (try? EncryptedFile.Reader(path: "\(path)-files/\(name)", key: key, context: context)) != nil
        }
    }

    private func bytesShow(_ key: FileKey, _ path: String) throws -> Bool {
        try Data(contentsOf: URL(fileURLWithPath: path)).shows(Data(key.bytes))
    }

    @Test(arguments: StoreKind.withKey) func `a copy has its own key for files`(kind: StoreKind) throws {
        let store = try kind.open(at: folder.file(), [Album.self])
        defer { store.close() }
        try fill(store, "а")
        let key = try store.fileKeys().current
        try store.backup(to: folder.file("backup"))
        try store.export(to: folder.file("export"), key: Self.otherKey)
        // The copy's key does not open later files of the original.
        try fill(store, "б")
        let backup = try kind.open(at: folder.file("backup"), [Album.self])
        defer { backup.close() }
        let export = try Store(at: folder.file("export"), key: Self.otherKey, models: Album.self)
        defer { export.close() }
        for copy in [backup, export] {
            try expectFiles(copy, "а")
            let own = try copy.fileKeys()
            #expect(own.current != key && own.older == [])
            #expect(try count(folder.file(), openedBy: own.current) == 0)
        }
        #expect(try count(folder.file(), openedBy: key) == 2)
    }

    @Test func `a copy that replaces an earlier one keeps its key and files`() throws {
        let store = try StoreKind.encrypted.open(at: folder.file(), [Album.self])
        defer { store.close() }
        try fill(store, "а")
        func backUp() throws -> (key: FileKey, files: Set<String>) {
            try store.backup(to: folder.file("backup"))
            let backup = try StoreKind.encrypted.open(at: folder.file("backup"), [Album.self])
            defer { backup.close() }
            return (try backup.fileKeys().current, Set(try Files.below(folder.file("backup") + "-files")))
        }
        let first = try backUp()
        try fill(store, "б")
        let second = try backUp()
        #expect(second.key == first.key)
        #expect(second.files.isSuperset(of: first.files))
    }

    /// The exported text is the control: it is found.
    @Test(arguments: [true, false]) func `a plain copy of an encrypted store contains no key for files`(
        hasFiles: Bool
    ) throws {
        let store = try StoreKind.encrypted.open(at: folder.file(), [Album.self])
        defer { store.close() }
        if hasFiles { try fill(store, "а") } else { try store.write { try $0.insert(Album(title: "а")) } }
        let key = try store.fileKeys().current
        try store.exportPlain(to: folder.file("plain"))
        #expect(try !bytesShow(key, folder.file("plain")))
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("plain"))).shows("а"))
        let queue = try DatabaseQueue(path: folder.file("plain"))
        #expect(try queue.read { try FileKeys($0) } == nil)
        try queue.close()
        let plain = try Store(at: folder.file("plain"), models: Album.self)
        defer { plain.close() }
        if hasFiles { try expectFiles(plain, "а") }
    }

    @Test(arguments: StoreKind.withKey, [true, false]) func `a salvaged store has its own key for files`(
        kind: StoreKind, hasFiles: Bool
    ) throws {
        let store = try kind.open(at: folder.file(), [Album.self])
        if hasFiles { try fill(store, "а") } else { try store.write { _ = try $0.insert(Album(title: "а")) } }
        let key = try store.fileKeys().current
        store.close()
        let profile = try #require(kind.profile)
        _ = try Store.salvage(
            at: folder.file(), key: StoreKind.key, profile: profile, to: folder.file("salvaged"))
        let salvaged = try kind.open(at: folder.file("salvaged"), [Album.self])
        defer { salvaged.close() }
        try fill(salvaged, "б")
        if hasFiles { try expectFiles(salvaged, "а", "б") } else { try expectFiles(salvaged, "б") }
        let own = try salvaged.fileKeys()
        #expect(own.current != key && own.older == [])
        #expect(try count(folder.file("salvaged"), openedBy: key) == 0)
    }

    @Test(arguments: StoreKind.withKey) func `changing the store's key renews the key for files`(
        kind: StoreKind
    ) throws {
        var store = try kind.open(at: folder.file(), [Album.self])
        try fill(store, "а", "б")
        let old = try store.fileKeys().current
        store.close()
        let profile = try #require(kind.profile)
        try Store.changeKey(at: folder.file(), from: StoreKind.key, profile: profile, to: Self.otherKey)
        #expect(try count(folder.file(), openedBy: old) == 0)
        store = try Store(at: folder.file(), key: Self.otherKey, profile: profile, models: Album.self)
        defer { store.close() }
        let new = try store.fileKeys()
        #expect(new.current != old && new.older == [])
        try expectFiles(store, "а", "б")
        #expect(try count(folder.file(), openedBy: new.current) == 2)
    }

    /// The process ends, twice, after the database has its new key and before a file is encrypted again.
    @Test(arguments: [1, 2]) func `the next opening completes an interrupted change of the key`(
        changes: Int
    ) throws {
        let path = folder.file()
        var store = try StoreKind.encrypted.open(at: path, [Album.self])
        try fill(store, "а", "б")
        let old = try store.fileKeys().current
        store.close()
        var database = try EncryptedDatabase(path: path, key: StoreKind.key)
        for number in 0..<changes {
            let key = CipherKey.raw([UInt8](repeating: UInt8(number + 7), count: 32))
            database = try database.changeKey(to: key, profile: nil, adjusting: FileKeys.renew)
        }
        let last = CipherKey.raw([UInt8](repeating: UInt8(changes + 6), count: 32))
        #expect(try count(path, openedBy: old) == 2)

        // A read-only store can't encrypt the files again, but reads them.
        var configuration = Store.Configuration()
        configuration.isReadOnly = true
        store = try Store(at: path, key: last, models: Album.self, configuration: configuration)
        #expect(try store.fileKeys().older.count == changes)
        #expect(try store.text(of: store.objects(Album.self).first()?.cover)?.hasPrefix("фото") == true)
        store.close()

        store = try Store(at: path, key: last, models: Album.self)
        #expect(try store.fileKeys().older == [])
        try expectFiles(store, "а", "б")
        try fill(store, "в")
        try expectFiles(store, "а", "б", "в")
        store.close()
        store = try Store(at: path, key: last, models: Album.self)
        defer { store.close() }
        #expect(try count(path, openedBy: old) == 0)
        #expect(try count(path, openedBy: store.fileKeys().current) == 3)
    }

    @Test func `a damaged file does not prevent the other files from getting the new key`() throws {
        var store = try StoreKind.encrypted.open(at: folder.file(), [Album.self])
        try fill(store, "а", "б")
        let album = try #require(try store.objects(Album.self).where { $0.title == "а" }.first())
        let cover = try #require(album.cover)
        let url = try #require(try store.attachments.diskURL(of: cover))
        store.close()
        try Data([1, 2, 3]).write(to: url)
        try Store.changeKey(at: folder.file(), from: StoreKind.key, to: Self.otherKey)
        store = try Store(at: folder.file(), key: Self.otherKey, models: Album.self)
        defer { store.close() }
        let other = try #require(try store.objects(Album.self).where { $0.title == "б" }.first())
        #expect(try store.text(of: other.cover) == "фото б")
        #expect(throws: TandemError.self) { try store.text(of: album.cover) }
        #expect(try store.checkIntegrity().count == 1)
    }
}
