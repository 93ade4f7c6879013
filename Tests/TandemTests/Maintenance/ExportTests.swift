import Foundation
import SQLiteCipher
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Copies of a store in other encryptions.
@Suite(.ownThreads) struct ExportTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    /// Copies to a file of a kind, with the other key if the kind has one.
    private func export(_ store: Store, to target: StoreKind, _ name: String) throws {
        if let profile = target.profile {
            try store.export(to: folder.file(name), key: Secrets.otherKey, profile: profile)
        } else {
            try store.exportPlain(to: folder.file(name))
        }
    }

    private func open(_ target: StoreKind, _ name: String) throws -> Store {
        try folder.open(name, target.profile == nil ? nil : Secrets.otherKey, target.profile ?? .aes256gcm)
    }

    @Test(arguments: StoreKind.allCases, StoreKind.files)
    func `a copy has the same content in its own encryption`(source: StoreKind, target: StoreKind) throws {
        let store = try Peer.open(folder.file(source), source)
        try store.fillWithPeers()
        let rows = try Secrets.rows(store)
        // The second round replaces the first copy.
        for _ in 0..<2 {
            try export(store, to: target, "copy")
            let copy = try open(target, "copy")
            #expect(try Secrets.rows(copy) == rows)
            #expect(try copy.checkIntegrity() == [])
            #expect(copy.isEncrypted == (target.profile != nil))
            _ = try copy.write { try $0.insert(PeerPerson(name: "only there")) }
            copy.close()
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.filter { $0 == "copy" || !$0.hasPrefix(Peer.name(source)) } == ["copy"])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("copy")))
        #expect(bytes.shows("Лента") == (target.profile == nil))
        // The store is unchanged and stays usable.
        #expect(try Secrets.rows(store) == rows)
        _ = try store.write { try $0.insert(PeerPerson(name: "later")) }
        try store.compact()
        #expect(try store.checkIntegrity() == [])
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: zip(
            [StoreKind.file, .encrypted, .encrypted, .sqlCipher], [StoreKind.encrypted, .file, .sqlCipher, .encrypted]))
    func `a copy is one state while others write`(source: StoreKind, target: StoreKind) throws {
        let store = try Peer.open(folder.file(source))
        try whileOthersWrite(to: store, at: folder.file(source), in: folder, count: 100_000) {
            for round in 0..<3 {
                try export(store, to: target, "copy-\(round)")
                let copy = try open(target, "copy-\(round)")
                try copy.expectWholeTransactions()
                #expect(try copy.checkIntegrity() == [])
            }
        }
    }

    @Test(arguments: StoreKind.allCases, StoreKind.files)
    func `a file of another kind is not replaced`(source: StoreKind, target: StoreKind) throws {
        let store = try Peer.open(folder.file("source"), source)
        try store.fillWithPeers(cards: 3)
        func expectKept(_ name: String, _ code: TandemError.Code) throws {
            let before = try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            expectError(code) { try export(store, to: target, name) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file(name))) == before, "\(name)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names, "\(name)")
        }
        for (index, text) in ["", "no store", String(repeating: "z", count: 8192)].enumerated() {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder.file("text\(index)")))
            try expectKept("text\(index)", .notAStore)
        }
        try folder.makeDatabase("CREATE TABLE t (x)", file: "database")
        try expectKept("database", .notAStore)
        // A store of another kind, or with another key than the copy's.
        for kind in StoreKind.files where kind != target || kind != .file {
            _ = try folder.makeStore(kind, "old-\(kind)", cards: 1)
            try expectKept("old-\(kind)", .notAStore)
        }
        expectError(.cannotOpen) { try export(store, to: target, "none/copy") }
        expectError(.cannotOpen) { try export(store, to: target, "") }
    }

    @Test(arguments: StoreKind.files)
    func `an open store is not replaced`(target: StoreKind) throws {
        let store = try Store.inMemory(models: PeerCard.self, PeerPerson.self, PeerMark.self)
        try store.fillWithPeers(cards: 3)
        let other = try open(target, "other")
        _ = try other.write { try $0.insert(PeerPerson(name: "other")) }
        expectError(.busy) { try export(store, to: target, "other") }
        expectError(.busy) { try export(other, to: target, "other") }
        #expect(try other.rows("SELECT name FROM PeerPerson") == [["other"]])
        _ = try other.write { try $0.insert(PeerPerson(name: "still")) }
        #expect(try other.checkIntegrity() == [])
    }

    @Test(arguments: StoreKind.allCases, StoreKind.files)
    func `a copy inside a transaction is refused`(source: StoreKind, target: StoreKind) throws {
        let store = try Peer.open(folder.file("source"), source)
        try store.write { tx in
            _ = try tx.insert(PeerPerson(name: "x"))
            expectError(.invalidQuery) { try export(store, to: target, "copy") }
        }
        _ = try store.read { _ in
            expectError(.invalidQuery) { try export(store, to: target, "copy") }
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("copy")))
        store.close()
        expectError(.closed) { try export(store, to: target, "copy") }
    }

    @Test func `invalid keys create no copy`() throws {
        struct Locked: Error {}
        let store = try folder.open("source", StoreKind.key)
        try store.fillWithPeers(cards: 3)
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        expectError(.invalidKey) { try store.export(to: folder.file("copy"), key: .raw([1])) }
        expectError(.invalidKey) { try store.export(to: folder.file("copy"), key: .passphrase("")) }
        let error = expectError(.keyUnavailable) {
            try store.export(to: folder.file("copy"), key: .provider { throw Locked() })
        }
        #expect(error?.underlying is Locked)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }

    @Test(arguments: StoreKind.withKey)
    func `a backup has the store's key and another salt`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        try store.fillWithPeers()
        let rows = try Secrets.rows(store)
        try store.backup(to: folder.file("copy"))
        store.close()
        let files = try folder.contents()
        #expect(files["copy"]?.prefix(16) != files[Peer.name(kind)]?.prefix(16))
        try folder.expectRefused(.notAStore) { try folder.open("copy", nil) }
        try folder.expectRefused(.wrongKey) { try folder.open("copy", Secrets.otherKey, kind.profile!) }
        let copy = try Peer.open(folder.file("copy"), kind)
        #expect(try Secrets.rows(copy) == rows)
        #expect(try copy.checkIntegrity() == [])
    }
}
