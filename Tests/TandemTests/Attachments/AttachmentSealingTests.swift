import Foundation
import SQLiteCipher
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Encrypting a store leaves no plain file, whatever its folder contained.
@Suite(.startsProcesses, .ownThreads) struct AttachmentSealingTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private static let secret = "совершенно секретно"
    private var path: String { folder.file(.file) }

    /// Returns the files that contain the secret.
    private func inTheClear() throws -> [String] {
        let all = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return all.filter { name in
            guard let bytes = FileManager.default.contents(atPath: folder.file(name)) else { return false }
            return bytes.shows(Self.secret)
        }
    }

    /// Starts a process that has a file in each state, including one that it is writing.
    private func attach() throws -> PeerProcess {
        let peer = try PeerProcess(["attach", path, Self.secret], in: folder)
        try #require(peer.waitForLine("attached"))
        let partial = BlobName.random()
        let shard = path + "-files/" + partial.shard
        try FileManager.default.createDirectory(atPath: shard, withIntermediateDirectories: true)
        try Data(Self.secret.utf8).write(to: URL(fileURLWithPath: "\(shard)/\(partial.partial)"))
        return peer
    }

    private func encrypt(_ kind: StoreKind) throws {
        try Store.encrypt(at: path, key: StoreKind.key, profile: #require(kind.profile))
    }

    private func open(_ kind: StoreKind) throws -> Store { try kind.open(at: path, [PeerFile.self]) }

    private func expectFiles(_ store: Store, sourceLocation: SourceLocation = #_sourceLocation) throws {
        try store.expectFilesInOrder(sourceLocation: sourceLocation)
        let texts = try store.objects(PeerFile.self).all().map { try store.text(of: $0.file) ?? "" }
        #expect(
            texts.sorted() == ["uploaded: \(Self.secret)", "waiting: \(Self.secret)"], sourceLocation: sourceLocation)
    }

    /// The database's journal mode decides where its commits are: a copy may have no log.
    @Test(arguments: StoreKind.withKey, [true, false])
    func `files of an ended process are encrypted or removed`(kind: StoreKind, hasLog: Bool) throws {
        let peer = try attach()
        peer.kill()
        if !hasLog {
            try folder.withDatabase(file: Peer.name(.file)) { _ = try $0.value("PRAGMA journal_mode = DELETE") }
        }
        // The control: the secret is found.
        #expect(try inTheClear().count == 4)
        try encrypt(kind)
        #expect(try inTheClear() == [])
        let store = try open(kind)
        defer { store.close() }
        try expectFiles(store)
        #expect(try store.blobs().count == 2)
    }

    @Test func `nothing is encrypted while a process has the store open, and everything afterwards`() throws {
        let peer = try attach()
        let before = try FileManager.default.subpathsOfDirectory(atPath: path + "-files").sorted()
        expectError(.busy) { try encrypt(.encrypted) }
        #expect(try inTheClear().count == 4)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: path + "-files").sorted() == before)
        #expect(try Peer.open(path, .file, models: [PeerFile.self]).objects(PeerFile.self).count() == 2)
        peer.kill()
        try encrypt(.encrypted)
        #expect(try inTheClear() == [])
        let store = try open(.encrypted)
        defer { store.close() }
        try expectFiles(store)
    }

    @Test(arguments: StoreKind.withKey, [true, false])
    func `a file that is written while the store is encrypted blocks nothing`(kind: StoreKind, staysOpen: Bool) throws {
        try StoreKind.file.open(at: path, [PeerFile.self]).close()
        let database = try EncryptedDatabase(
            path: StorePath(path).real, key: StoreKind.key, profile: #require(kind.profile))
        var opened: Store?
        defer { opened?.close() }
        try BlobEncryptor.encrypt(database) {
            let store = try open(kind)
            let file = try store.attach("uploaded: \(Self.secret)")
            let other = try store.attach("waiting: \(Self.secret)")
            try store.write { tx in
                try tx.insert(PeerFile(note: "а", file: file))
                try tx.insert(PeerFile(note: "б", file: other))
            }
            if staysOpen { opened = store } else { store.close() }
        }
        let store = try opened ?? open(kind)
        defer { store.close() }
        try expectFiles(store)
        #expect(try inTheClear() == [])
    }

    /// The files exist before the database is in its place.
    @Test func `nothing is encrypted during a copy to the store's place`() throws {
        let store = try Peer.open(path, .file, models: [PeerFile.self])
        _ = try PeerFile.fill(store, with: Self.secret)
        store.close()
        let copying = FileFolder(path: path + "-files", key: nil)
        try copying.lockOpen()
        expectError(.busy) { try encrypt(.encrypted) }
        copying.close()
        let copied = FileFolder(path: path + "-files", key: nil)
        _ = try copied.whileCopying { expectError(.busy) { try encrypt(.encrypted) } }
        try encrypt(.encrypted)
        #expect(try inTheClear() == [])
    }

    @Test func `a file that can't be encrypted is reported and encrypted by a later opening`() throws {
        var store = try Peer.open(path, .file, models: [PeerFile.self])
        _ = try PeerFile.fill(store, with: Self.secret)
        let file = try #require(try store.objects(PeerFile.self).all().first { $0.note == "new" }?.file)
        let url = try #require(try store.attachments.diskURL(of: file))
        store.close()
        let moved = URL(fileURLWithPath: folder.file("moved"))
        try FileManager.default.moveItem(at: url, to: moved)
        // A folder with a file's name is neither read nor removed.
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        let error = expectError(.corrupt) { try encrypt(.encrypted) }
        #expect(error?.message.contains("The store is encrypted now") == true)
        try FileManager.default.moveItem(at: moved, to: URL(fileURLWithPath: folder.path + "-moved"))
        defer { try? FileManager.default.removeItem(atPath: folder.path + "-moved") }
        #expect(try inTheClear() == [])
        store = try open(.encrypted)
        #expect(try store.checkIntegrity().count == 1)
        store.close()
        try FileManager.default.removeItem(at: url)
        try FileManager.default.moveItem(at: URL(fileURLWithPath: folder.path + "-moved"), to: url)
        #expect(try inTheClear().count == 1)
        store = try open(.encrypted)
        defer { store.close() }
        #expect(try inTheClear() == [])
        try expectFiles(store)
    }

    @Test func `a missing file does not prevent the store's encryption`() throws {
        var store = try Peer.open(path, .file, models: [PeerFile.self])
        _ = try PeerFile.fill(store, with: Self.secret)
        for object in try store.objects(PeerFile.self).all() {
            let file = try #require(object.file)
            try FileManager.default.removeItem(at: #require(try store.attachments.diskURL(of: file)))
        }
        store.close()
        try encrypt(.encrypted)
        store = try open(.encrypted)
        defer { store.close() }
        #expect(try store.checkIntegrity().count == 2)
    }

    @Test func `a store behind a link is encrypted with its files`() throws {
        let store = try Peer.open(path, .file, models: [PeerFile.self])
        _ = try PeerFile.fill(store, with: Self.secret)
        store.close()
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: path)
        try Store.encrypt(at: folder.file("link"), key: StoreKind.key)
        #expect(try inTheClear() == [])
        let encrypted = try open(.encrypted)
        defer { encrypted.close() }
        try expectFiles(encrypted)
    }
}
