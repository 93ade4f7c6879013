import Foundation
import SQLiteCipher
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// The errors of an encrypted store for keys that don't fit and for invalid files.
@Suite(.ownThreads) struct EncryptedOpeningTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    @Test(arguments: StoreKind.withKey, [false, true])
    func `a wrong key is refused and changes nothing`(kind: StoreKind, readOnly: Bool) throws {
        _ = try folder.makeStore(kind)
        let name = Peer.name(kind)
        let profile = try #require(kind.profile)
        let others: [CipherProfile] = [
            kind == .encrypted ? .sqlCipher4 : .aes256gcm,
            kind == .encrypted ? .aes256gcm(pageSize: 1024) : .sqlCipher4(pageSize: 1024),
        ]
        for (key, profile) in [(Secrets.otherKey, profile)] + others.map({ (StoreKind.key, $0) }) {
            let error = try folder.expectRefused(.wrongKey) { try folder.open(name, key, profile, readOnly: readOnly) }
            #expect(error?.store == folder.file(name) && error?.advice != nil)
        }
        let typed = CipherKey.passphrase("wrong")
        let quick: CipherProfile = kind == .encrypted ? .aes256gcm(iterations: 10) : .sqlCipher4(iterations: 10)
        try folder.expectRefused(.wrongKey) { try folder.open(name, typed, quick, readOnly: readOnly) }
        #expect(try folder.open(name, StoreKind.key, profile).rows("SELECT count(*) FROM PeerCard") == [[40]])
    }

    /// The state that a killed process leaves, with a log.
    @Test(arguments: StoreKind.withKey)
    func `a wrong key does not change a log without a checkpoint`(kind: StoreKind) throws {
        let name = Peer.name(kind)
        let store = try Peer.open(folder.file("source"), kind)
        try store.fillWithPeers()
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: folder.file(name) + suffix)
        }
        store.close()
        for readOnly in [false, true] {
            let before = try folder.storeBytes(kind)
            expectError(.wrongKey) { try folder.open(name, Secrets.otherKey, kind.profile!, readOnly: readOnly) }
            let after = try folder.storeBytes(kind)
            #expect(after[name] == before[name] && after[name + "-wal"] == before[name + "-wal"])
        }
        #expect(try folder.open(name, StoreKind.key, kind.profile!).rows("SELECT count(*) FROM PeerCard") == [[40]])
    }

    @Test(arguments: [CipherProfile.aes256gcm, .sqlCipher4], [false, true])
    func `a plain store is not opened with a key`(profile: CipherProfile, readOnly: Bool) throws {
        _ = try folder.makeStore(.file)
        let error = try folder.expectRefused(.notEncrypted) {
            try folder.open(Peer.name(.file), StoreKind.key, profile, readOnly: readOnly)
        }
        #expect(error?.advice?.contains("encrypt") == true)
    }

    @Test(arguments: StoreKind.withKey, [false, true])
    func `an encrypted store without a key is refused with advice`(kind: StoreKind, readOnly: Bool) throws {
        _ = try folder.makeStore(kind)
        let error = try folder.expectRefused(.notAStore) {
            try folder.open(Peer.name(kind), nil, readOnly: readOnly)
        }
        #expect(error?.advice?.contains("key") == true)
    }

    @Test(arguments: ["x", "SQLite", String(repeating: "z", count: 10_000)], StoreKind.withKey)
    func `a file that is not a database is refused`(content: String, kind: StoreKind) throws {
        try Data(content.utf8).write(to: URL(fileURLWithPath: folder.file("x")))
        for readOnly in [false, true] {
            try folder.expectRefused(.notAStore) {
                try folder.open("x", StoreKind.key, kind.profile!, readOnly: readOnly)
            }
        }
    }

    @Test(arguments: StoreKind.withKey)
    func `an encrypted database of another program is refused`(kind: StoreKind) throws {
        let database = try EncryptedDatabase(path: folder.file("x"), key: StoreKind.key, profile: kind.profile!)
        let queue = try database.openQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE t (x)") }
        try queue.close()
        for readOnly in [false, true] {
            try folder.expectRefused(.notAStore) {
                try folder.open("x", StoreKind.key, kind.profile!, readOnly: readOnly)
            }
        }
        try folder.expectRefused(.notAStore) {
            try Store.changeKey(at: folder.file("x"), from: StoreKind.key, profile: kind.profile!, to: Secrets.otherKey)
        }
    }

    @Test func `an invalid key is refused before a file is created`() throws {
        let keys: [CipherKey] = [
            .raw([1, 2, 3]), .raw([]), .raw([UInt8](0..<32), salt: [1]), .passphrase(""), .passphrase([UInt8]()),
            .provider { .raw([]) }, .provider { .passphrase("") },
        ]
        for key in keys {
            try folder.expectRefused(.invalidKey) { try folder.open("new", key) }
        }
        for profile: CipherProfile in [
            .aes256gcm(pageSize: 1000), .sqlCipher4(iterations: 0), .sqlCipher4(pageSize: 512),
        ] {
            try folder.expectRefused(.invalidKey) { try folder.open("new", StoreKind.key, profile) }
        }
        _ = try folder.makeStore(.encrypted, "old")
        for key in keys {
            try folder.expectRefused(.invalidKey) { try folder.open("old", key) }
            try folder.expectRefused(.invalidKey) { try Store.changeKey(at: folder.file("old"), from: key, to: key) }
            try folder.expectRefused(.invalidKey) {
                try Store.changeKey(at: folder.file("old"), from: StoreKind.key, to: key)
            }
        }
    }

    @Test func `a failing provider is reported with its error`() throws {
        struct Locked: Error {}
        let key = CipherKey.provider { throw Locked() }
        let endless = CipherKey.provider {
            .provider {
                .provider {
                    .provider {
                        .provider {
                            .provider {
                                .provider {
                                    .provider { .provider { StoreKind.key } }
                                }
                            }
                        }
                    }
                }
            }
        }
        let early = try folder.expectRefused(.keyUnavailable) { try folder.open("new", key) }
        #expect(early?.underlying is Locked)
        _ = try folder.makeStore(.encrypted, "old")
        for readOnly in [false, true] {
            let error = try folder.expectRefused(.keyUnavailable) { try folder.open("old", key, readOnly: readOnly) }
            #expect(error?.underlying is Locked && error?.store == folder.file("old"))
            try folder.expectRefused(.keyUnavailable) { try folder.open("old", endless, readOnly: readOnly) }
        }
        let error = try folder.expectRefused(.keyUnavailable) {
            try Store.changeKey(at: folder.file("old"), from: StoreKind.key, to: key)
        }
        #expect(error?.underlying is Locked)
        _ = try folder.makeStore(.file, "plain")
        try folder.expectRefused(.keyUnavailable) { try Store.encrypt(at: folder.file("plain"), key: key) }
    }

    @Test func `an in-memory store can't have a key`() throws {
        let old = FileManager.default.currentDirectoryPath
        expectError(.invalidKey) { try Store(at: ":memory:", key: StoreKind.key, models: PeerPerson.self) }
        #expect(!FileManager.default.fileExists(atPath: old + "/:memory:"))
        expectError(.cannotOpen) { try Store(at: "", key: StoreKind.key, models: PeerPerson.self) }
    }

    @Test(arguments: [false, true])
    func `a path that is not a file is refused`(readOnly: Bool) throws {
        for path in [
            "a\u{0}b", folder.path, folder.path + "/", folder.path + "/none/store.tandem", "/dev/null", "/dev/zero",
        ] {
            var configuration = Store.Configuration()
            configuration.isReadOnly = readOnly
            let error = expectError(.cannotOpen) {
                try Store(at: path, key: StoreKind.key, models: PeerPerson.self, configuration: configuration)
            }
            #expect(error?.store == path && error?.advice != nil)
        }
        try folder.expectRefused(.cannotOpen) { try folder.open("none", StoreKind.key, readOnly: true) }
        try folder.expectRefused(.cannotOpen) {
            try Store.changeKey(at: folder.file("none"), from: StoreKind.key, to: Secrets.otherKey)
        }
        try folder.expectRefused(.cannotOpen) { try Store.encrypt(at: folder.file("none"), key: StoreKind.key) }
        try folder.expectRefused(.cannotOpen) {
            try Store.salvage(at: folder.file("none"), key: StoreKind.key, to: folder.file("rescued"))
        }
    }
}
