import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Backups that are made while the store or the backup is written.
@Suite(.ownThreads) struct AttachmentBackupTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func open(_ kind: StoreKind = .file, _ name: String = "store.tandem") throws -> Store {
        try kind.open(at: folder.file(name), [Album.self])
    }

    private func add(_ text: String, to store: Store) throws -> Attachment {
        let file = try store.attach(text)
        try store.write { try $0.insert(Album(title: text, cover: file)) }
        return file
    }

    private func texts(_ store: Store) throws -> [String] {
        try store.objects(Album.self).sorted(by: \.title).all().compactMap { try store.text(of: $0.cover) }
    }

    // MARK: Writes to the store

    @Test(arguments: StoreKind.allCases)
    func `a backup that begins before the first file is attached contains the file`(
        kind: StoreKind
    ) throws {
        let store = try open(kind)
        defer { store.close() }
        var calls = 0
        let hooks = Store.CopyHooks(willCopy: {
            calls += 1
            _ = try add("а", to: store)
        })
        try store.copy(to: folder.file("backup"), as: .same, hooks: hooks)
        #expect(calls == 1)
        let backup = try open(kind == .memory ? .file : kind, "backup")
        defer { backup.close() }
        #expect(try texts(backup) == ["а"])
        try backup.expectFilesInOrder()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(".tandem") }
        #expect(names == [])
    }

    // MARK: In a read block

    @Test(arguments: StoreKind.files) func `a backup in a read block contains the state of the block`(
        kind: StoreKind
    ) throws {
        let (store, other) = (try open(kind), try open(kind))
        defer { for store in [store, other] { store.close() } }
        let (first, second) = (try add("а", to: store), try add("б", to: store))
        try store.write { _ = try $0.sync.acknowledgeUpload(of: second.id, at: "https://e.org/2", etag: nil) }
        try store.read { tx in
            #expect(try tx.objects(Album.self).count() == 2)
            _ = try add("в", to: other)
            // The server has this file, so the backup leaves it out.
            #expect(try other.attachments.evict(second))
            try store.backup(to: folder.file("backup"))
        }
        let backup = try open(kind, "backup")
        defer { backup.close() }
        #expect(try backup.objects(Album.self).sorted(by: \.title).all().map(\.title) == ["а", "б"])
        #expect(try backup.text(of: first) == "а")
        expectError(.attachmentNotHere) { try backup.text(of: second) }
        try backup.expectFilesInOrder()
    }

    @Test(arguments: StoreKind.files)
    func `a backup in a read block fails with a reason if a file that only the device had is removed`(
        kind: StoreKind
    ) throws {
        let (store, other) = (try open(kind), try open(kind))
        defer { for store in [store, other] { store.close() } }
        let (first, second) = (try add("а", to: store), try add("б", to: store))
        try store.read { tx in
            #expect(try tx.objects(Album.self).count() == 2)
            _ = try other.write { try $0.delete($0.objects(Album.self).where { $0.title == "а" }) }
            let error = expectError(.attachmentNotHere) { try store.backup(to: folder.file("backup")) }
            #expect(error?.advice?.contains("outside of the read block") == true)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("backup")))
        // The file was uploaded since and then evicted from the device.
        try store.read { tx in
            #expect(try tx.objects(Album.self).count() == 1)
            try other.write { _ = try $0.sync.acknowledgeUpload(of: second.id, at: "https://e.org/2", etag: nil) }
            #expect(try other.attachments.evict(second))
            expectError(.attachmentNotHere) { try store.backup(to: folder.file("backup")) }
        }
        try store.backup(to: folder.file("backup"))
        // A missing file that the store's newest state still names is damage.
        let third = try add("в", to: store)
        try FileManager.default.removeItem(at: #require(try store.attachments.diskURL(of: third)))
        _ = try store.read { _ in expectError(.corrupt) { try store.backup(to: folder.file("backup")) } }
        _ = first
    }

    // MARK: Writes to the backup

    @Test(arguments: StoreKind.files, [true, false])
    func `a file that is freed in the store during its backup stays in the backup`(
        kind: StoreKind, replaces: Bool
    ) throws {
        let store = try open(kind)
        defer { store.close() }
        _ = try add("а", to: store)
        try store.backup(to: folder.file("backup"))
        struct GivenUp: Error {}
        let hooks = Store.CopyHooks(hasFiles: {
            let old = try open(kind, "backup")
            _ = try old.write { try $0.delete($0.objects(Album.self)) }
            try old.write { _ in }
            old.close()
            if !replaces { throw GivenUp() }
        })
        if replaces {
            try store.copy(to: folder.file("backup"), as: .same, hooks: hooks)
        } else {
            #expect(throws: (any Error).self) { try store.copy(to: folder.file("backup"), as: .same, hooks: hooks) }
        }
        let backup = try open(kind, "backup")
        defer { backup.close() }
        #expect(try texts(backup) == (replaces ? ["а"] : []))
        // The file that was freed during the backup is removed by now.
        try backup.expectFilesInOrder()
    }

    @Test(arguments: StoreKind.files, [true, false])
    func `a file that is written to a backup right after its creation stays`(kind: StoreKind, closes: Bool) throws {
        let store = try open(kind)
        defer { store.close() }
        let gone = try add("а", to: store)
        try store.backup(to: folder.file("backup"))
        _ = try store.write { try $0.delete($0.objects(Album.self)) }
        _ = try add("б", to: store)
        var backup: Store?
        defer { backup?.close() }
        let hooks = Store.CopyHooks(isInPlace: {
            let opened = try open(kind, "backup")
            _ = try add("в", to: opened)
            if closes { opened.close() } else { backup = opened }
        })
        try store.copy(to: folder.file("backup"), as: .same, hooks: hooks)
        let opened = try backup ?? open(kind, "backup")
        defer { opened.close() }
        #expect(try texts(opened) == ["б", "в"])
        #expect(try opened.checkIntegrity().allSatisfy { $0.hasPrefix("No object names the file") })
        opened.close()
        let again = try open(kind, "backup")
        defer { again.close() }
        try again.expectFilesInOrder()
        _ = gone
    }

    @Test func `the files of a replaced backup are removed at once without opening it`() throws {
        let store = try open()
        defer { store.close() }
        _ = try add("а", to: store)
        for round in 0..<3 {
            try store.backup(to: folder.file("backup"))
            #expect(try Files.below(folder.file("backup-files")).count == 1)
            _ = try store.write { try $0.delete($0.objects(Album.self)) }
            if round < 2 { _ = try add("\(round)", to: store) }
        }
        try store.backup(to: folder.file("backup"))
        #expect(try Files.below(folder.file("backup-files")) == [])
    }

    @Test func `a failed backup removes no files of another backup to the same place`() throws {
        let target = folder.file("backup")
        func copied(_ others: [BlobName], isOurs: Bool = false) throws -> (files: CopiedFiles, blob: BlobName) {
            let folder = FileFolder(path: target + "-files", key: nil)
            let files = try CopiedFiles(folder: folder, target: target, hasPlace: false)
            for blob in others { files.record(blob, isNew: true) }
            let blob = try files.folder.add(.bytes([1])).blob
            files.record(blob, isNew: true, isOurs: isOurs)
            return (files, blob)
        }
        let (first, second) = (try copied([]), try copied([]))
        first.files.discard()
        #expect(try Files.below(target + "-files").count == 2)
        second.files.discard()
        #expect(try Files.below(target + "-files").count == 1)
        try copied([first.blob]).files.discard()
        #expect(try Files.below(target + "-files") == [])
        // An existing store may name files that were copied under its own path.
        try Data().write(to: URL(fileURLWithPath: target))
        try copied([]).files.discard()
        try copied([], isOurs: true).files.discard()
        #expect(try Files.below(target + "-files").count == 1)
    }

    @Test(arguments: StoreKind.withKey)
    func `a failed backup leaves the previous backup and its files unchanged`(target: StoreKind) throws {
        let store = try open()
        defer { store.close() }
        for text in ["а", "б"] { _ = try add(text, to: store) }
        let (key, profile) = (CipherKey.raw([UInt8](1...32)), try #require(target.profile))
        func export() throws { try store.export(to: folder.file("copy"), key: key, profile: profile) }
        func expectCopy(_ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
            let copy = try Store(at: folder.file("copy"), key: key, profile: profile, models: Album.self)
            defer { copy.close() }
            #expect(try texts(copy) == expected, sourceLocation: sourceLocation)
            try copy.expectFilesInOrder(sourceLocation: sourceLocation)
        }
        try export()
        let before = try Files.below(folder.file("copy-files"))
        // The backup does not have this file yet.
        let later = try add("в", to: store)
        let url = try #require(try store.attachments.diskURL(of: later))
        let bytes = try Data(contentsOf: url)
        try FileManager.default.removeItem(at: url)
        expectError(.corrupt) { try export() }
        #expect(try Files.below(folder.file("copy-files")) == before)
        try bytes.write(to: url)
        try expectCopy(["а", "б"])
        try export()
        try expectCopy(["а", "б", "в"])
        // A damaged file of the backup is replaced.
        let damaged = folder.file("copy-files") + "/" + (try #require(Files.below(folder.file("copy-files")).first))
        try Data("damaged".utf8).write(to: URL(fileURLWithPath: damaged))
        try export()
        try expectCopy(["а", "б", "в"])
    }
}
