import Foundation
import SQLiteCipher
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Changing a store's key or profile, and encrypting a plain store.
@Suite(.startsProcesses, .ownThreads) struct ChangeKeyTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    struct Lock: CustomTestStringConvertible, Sendable {
        let key: CipherKey
        let profile: CipherProfile
        var testDescription: String { "\(key) \(profile)" }

        static let raw = Lock(key: StoreKind.key, profile: .aes256gcm)
        static let otherRaw = Lock(key: Secrets.otherKey, profile: .aes256gcm)
        static let typed = Lock(key: .passphrase("слово"), profile: .aes256gcm(iterations: 10))
        static let exchange = Lock(key: Secrets.otherKey, profile: .sqlCipher4)
        static let exchangeTyped = Lock(key: .passphrase("слово"), profile: .sqlCipher4(iterations: 10))
    }

    private static let changes: [(Lock, Lock)] = [
        (.raw, .otherRaw), (.raw, .typed), (.typed, .raw), (.raw, .exchange), (.exchange, .raw),
        (.typed, .exchangeTyped), (.exchangeTyped, .typed), (.exchange, .exchangeTyped),
    ]

    @Test(arguments: changes)
    func `the new key opens the store and the old one is refused`(old: Lock, new: Lock) throws {
        let path = folder.file("a")
        let store = try folder.open("a", old.key, old.profile)
        try store.fillWithPeers()
        let rows = try Secrets.rows(store)
        let operations = try store.operations.all().map(\.id)
        store.close()
        try Store.changeKey(at: path, from: old.key, profile: old.profile, to: new.key, newProfile: new.profile)
        #expect(try folder.contents().keys.sorted() == ["a"])
        try folder.expectRefused(.wrongKey) { try folder.open("a", old.key, old.profile) }
        do {
            let store = try folder.open("a", new.key, new.profile)
            #expect(try Secrets.rows(store) == rows)
            #expect(try store.operations.all().map(\.id) == operations)
            #expect(try store.checkIntegrity() == [])
            // The store works as before: it sees commits of other processes and can be written.
            _ = try store.write { try $0.insert(PeerPerson(name: "Ева")) }
            store.close()
        }
        let again = try folder.open("a", new.key, new.profile)
        #expect(try again.rows("SELECT count(*) FROM PeerPerson") == [[3]])
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
    }

    @Test(arguments: StoreKind.withKey)
    func `changing the key of an open store is refused and changes nothing`(kind: StoreKind) throws {
        let path = folder.file(kind)
        let store = try Peer.open(path)
        try store.fillWithPeers()
        let rows = try Secrets.rows(store)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        func change() throws {
            try Store.changeKey(at: path, from: StoreKind.key, profile: kind.profile!, to: Secrets.otherKey)
        }
        expectError(.busy) { try change() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
        #expect(try Secrets.rows(store) == rows)
        _ = try store.write { try $0.insert(PeerPerson(name: "Ева")) }
        #expect(try store.checkIntegrity() == [])
        store.close()
        // The store is open in another process too.
        let peer = try PeerProcess(["hold", path, folder.file("release")], in: folder)
        try #require(peer.waitForLine("holding"))
        expectError(.busy) { try change() }
        _ = FileManager.default.createFile(atPath: folder.file("release"), contents: nil)
        #expect(peer.wait() == 0 && peer.lines.last == "done")
        try change()
        let changed = try folder.open(Peer.name(kind), Secrets.otherKey, kind.profile!)
        #expect(try changed.rows("SELECT name FROM PeerPerson ORDER BY 1") == [["held"], ["Ада"], ["Боб"], ["Ева"]])
    }

    @Test(arguments: StoreKind.withKey)
    func `a wrong old key changes nothing`(kind: StoreKind) throws {
        _ = try folder.makeStore(kind)
        let path = folder.file(kind)
        try folder.expectRefused(.wrongKey) {
            try Store.changeKey(at: path, from: Secrets.otherKey, profile: kind.profile!, to: StoreKind.key)
        }
        try folder.expectRefused(.wrongKey) {
            try Store.changeKey(
                at: path, from: StoreKind.key, profile: kind == .encrypted ? .sqlCipher4 : .aes256gcm,
                to: Secrets.otherKey)
        }
        try folder.expectRefused(.invalidKey) {
            try Store.changeKey(
                at: path, from: StoreKind.key, profile: kind.profile!, to: Secrets.otherKey,
                newProfile: .aes256gcm(pageSize: 7))
        }
        _ = try folder.makeStore(.file)
        try folder.expectRefused(.notEncrypted) {
            try Store.changeKey(at: folder.file(.file), from: StoreKind.key, to: Secrets.otherKey)
        }
    }

    /// A killed process leaves its last commits in the log.
    @Test(arguments: StoreKind.files)
    func `commits that are only in the log are kept`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file("source"), kind)
        try store.fillWithPeers()
        let rows = try Secrets.rows(store)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: folder.file("a") + suffix)
        }
        if let profile = kind.profile {
            try Store.changeKey(at: folder.file("a"), from: StoreKind.key, profile: profile, to: Secrets.otherKey)
        } else {
            try Store.encrypt(at: folder.file("a"), key: Secrets.otherKey)
        }
        let changed = try folder.open("a", Secrets.otherKey, kind.profile ?? .aes256gcm)
        #expect(try Secrets.rows(changed) == rows)
        #expect(try changed.checkIntegrity() == [])
    }

    // MARK: Plain stores

    @Test(arguments: [CipherProfile.aes256gcm, .sqlCipher4])
    func `a plain store is encrypted`(profile: CipherProfile) throws {
        let rows = try folder.makeStore(.file, "a")
        let files = try folder.contents()
        let plain = try #require(files["a"])
        #expect(plain.shows("Лента"))
        chmod(folder.file("a"), 0o640)
        try Store.encrypt(at: folder.file("a"), key: Secrets.otherKey, profile: profile)
        #expect(try folder.contents().keys.sorted() == ["a"])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("a"))
        #expect(attributes[.posixPermissions] as? Int == 0o640)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("a")))
        #expect(!bytes.shows("Лента") && !bytes.shows("PeerCard"))
        let store = try folder.open("a", Secrets.otherKey, profile)
        #expect(try Secrets.rows(store) == rows)
        #expect(try store.checkIntegrity() == [])
        store.close()
        try folder.expectRefused(.notAStore) { try folder.open("a", nil) }
        // The store is already encrypted, so a second time is refused.
        let error = try folder.expectRefused(.notAStore) {
            try Store.encrypt(at: folder.file("a"), key: Secrets.otherKey, profile: profile)
        }
        #expect(error?.advice?.contains("key") == true)
    }

    @Test func `a file that is not a plain store is not encrypted`() throws {
        func refuse(_ name: String, _ code: TandemError.Code) throws {
            try folder.expectRefused(code) { try Store.encrypt(at: folder.file(name), key: StoreKind.key) }
        }
        for sql in ["CREATE TABLE t (x)", "PRAGMA application_id = 1", "PRAGMA user_version = 5; CREATE TABLE t (x)"] {
            try folder.makeDatabase(sql, file: "other")
            try refuse("other", .notAStore)
            try FileManager.default.removeItem(atPath: folder.file("other"))
        }
        _ = FileManager.default.createFile(atPath: folder.file("empty"), contents: Data())
        try refuse("empty", .notAStore)
        try Data("no database".utf8).write(to: URL(fileURLWithPath: folder.file("text")))
        try refuse("text", .notAStore)
        expectError(.cannotOpen) { try Store.encrypt(at: folder.path, key: StoreKind.key) }
    }

    @Test func `a plain store behind a link is encrypted`() throws {
        let rows = try folder.makeStore(.file, "a")
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: folder.file("a"))
        try Store.encrypt(at: folder.file("link"), key: Secrets.otherKey)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("link")) == folder.file("a"))
        #expect(try Secrets.rows(folder.open("a", Secrets.otherKey)) == rows)
    }

    @Test func `a plain store that is open in another process is not encrypted`() throws {
        _ = try folder.makeStore(.file)
        let path = folder.file(.file)
        let peer = try PeerProcess(["hold", path, folder.file("release")], in: folder)
        try #require(peer.waitForLine("holding"))
        expectError(.busy) { try Store.encrypt(at: path, key: StoreKind.key) }
        _ = FileManager.default.createFile(atPath: folder.file("release"), contents: nil)
        #expect(peer.wait() == 0)
        #expect(try Peer.open(path).rows("SELECT count(*) FROM PeerPerson") == [[3]])
    }
}
