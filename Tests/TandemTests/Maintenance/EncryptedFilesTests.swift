import Foundation
import SQLiteCipher
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// The paths of encrypted stores, and access from several processes.
@Suite(.startsProcesses, .ownThreads) struct EncryptedFilesTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    @Test(
        arguments: StoreKind.withKey,
        [
            "q?.tandem", "h#.tandem", "p%20.tandem", "%", "with spaces .tandem", "Карты Пятёрочка.tandem",
            "'quoted\".tandem", "semi;colon&x=y.tandem", "file:odd.tandem", "back\\slash", "new\nline",
            "é\u{301}.tandem", String(repeating: "ж", count: 100) + ".tandem", "x?key=1&vfs=unix", "?kid=0",
        ])
    func `a path may have any characters`(kind: StoreKind, name: String) throws {
        let rows = try folder.makeStore(kind, name, cards: 3)
        let profile = try #require(kind.profile)
        #expect(FileManager.default.fileExists(atPath: folder.file(name)))
        do {
            let store = try folder.open(name, StoreKind.key, profile)
            #expect(try Secrets.rows(store) == rows)
            try store.backup(to: folder.file(name + "2"))
            try store.exportPlain(to: folder.file(name + "3"))
            store.close()
        }
        #expect(try Secrets.rows(folder.open(name + "2", StoreKind.key, profile)) == rows)
        #expect(try Secrets.rows(folder.open(name + "3", nil)) == rows)
        try Store.changeKey(at: folder.file(name), from: StoreKind.key, profile: profile, to: Secrets.otherKey)
        #expect(try Secrets.rows(folder.open(name, Secrets.otherKey, profile, readOnly: true)) == rows)
        try Store.encrypt(at: folder.file(name + "3"), key: Secrets.otherKey)
        #expect(try Secrets.rows(folder.open(name + "3", Secrets.otherKey)) == rows)
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(Set(left).subtracting([name, name + "2", name + "3", name + "-shm", name + "-wal"]).isEmpty, "\(left)")
    }

    @Test(arguments: ["plain", "file:plain", "./dotted"])
    func `a relative path belongs to the current folder`(name: String) throws {
        let path = "encrypted-\(UUID().uuidString)-" + name
        let relative =
            name.hasPrefix("file:")
            ? "file:" + path : name.hasPrefix("./") ? "./" + path.replacing("./", with: "") : path
        let full = FileManager.default.currentDirectoryPath + "/" + relative
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: full + suffix) } }
        let store = try Store(at: relative, key: StoreKind.key, models: PeerPerson.self)
        _ = try store.write { try $0.insert(PeerPerson(name: "Ада")) }
        #expect(store.path == relative && FileManager.default.fileExists(atPath: full))
        store.close()
        try Store.changeKey(at: relative, from: StoreKind.key, to: Secrets.otherKey)
        let again = try Store(at: full, key: Secrets.otherKey, models: PeerPerson.self)
        #expect(try again.rows("SELECT name FROM PeerPerson") == [["Ада"]])
    }

    @Test(arguments: StoreKind.withKey)
    func `a symbolic link is followed`(kind: StoreKind) throws {
        let profile = try #require(kind.profile)
        _ = try folder.makeStore(kind, "a", cards: 1)
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: folder.file("a"))
        let store = try folder.open("link", StoreKind.key, profile)
        _ = try store.write { try $0.insert(PeerCard(shop: "x", barcode: "x")) }
        // Both paths lead to one store, also while it is open.
        #expect(try folder.open("a", StoreKind.key, profile).rows("SELECT count(*) FROM PeerCard") == [[2]])
        store.close()
        try Store.changeKey(at: folder.file("link"), from: StoreKind.key, profile: profile, to: Secrets.otherKey)
        _ = try Store.salvage(
            at: folder.file("link"), key: Secrets.otherKey, profile: profile, to: folder.file("rescued"))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("link")) == folder.file("a"))
        #expect(try folder.open("a", Secrets.otherKey, profile).rows("SELECT count(*) FROM PeerCard") == [[2]])
    }

    @Test(arguments: StoreKind.withKey)
    func `a read-only store sees foreign writes and refuses to write`(kind: StoreKind) throws {
        let path = folder.file(kind)
        let rows = try folder.makeStore(kind)
        let reader = try Peer.open(path, readOnly: true)
        #expect(try Secrets.rows(reader) == rows)
        expectError(.readOnly) { try reader.write { try $0.insert(PeerPerson(name: "x")) } }
        expectError(.readOnly) { try reader.compact() }
        let writer = try Peer.open(path)
        _ = try writer.write { try $0.insert(PeerCard(shop: "x", barcode: "x")) }
        #expect(try reader.rows("SELECT count(*) FROM PeerCard") == [[41]])
        try reader.backup(to: folder.file("copy"))
        #expect(try Peer.open(folder.file("copy"), kind).rows("SELECT count(*) FROM PeerCard") == [[41]])
    }

    @Test(arguments: StoreKind.withKey)
    func `a read-only store reads a log without a checkpoint`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file("source"), kind)
        _ = try store.write { try $0.insert(PeerCard(shop: "x", barcode: "x")) }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: folder.file(kind) + suffix)
        }
        #expect(try Peer.open(folder.file(kind), readOnly: true).rows("SELECT count(*) FROM PeerCard") == [[1]])
    }

    @Test(.enabled(if: PeerProcess.canMount, "no mounts here"), arguments: StoreKind.withKey)
    func `a store on a read-only medium is readable if its log was checkpointed`(kind: StoreKind) throws {
        _ = try folder.makeStore(kind)
        let outputs = try TestFolder()
        func run(_ arguments: String) throws -> String {
            let peer = try PeerProcess(
                mounting: "mount --bind '\(folder.path)' '\(folder.path)'; mount -o remount,bind,ro '\(folder.path)'; "
                    + "'\(PeerProcess.executable)' \(arguments)", in: outputs)
            peer.wait()
            return peer.lines.joined(separator: ", ")
        }
        #expect(try run("read '\(folder.file(kind))'") == "cards 40, write readOnly")
        let writing = try run("count '\(folder.file(kind))' 1")
        #expect(writing.hasPrefix("error readOnly") || writing.hasPrefix("error cannotOpen"), "\(writing)")
        // Reading the file without its log would lose commits.
        let store = try Peer.open(folder.file("source"), kind)
        _ = try store.write { try $0.insert(PeerCard(shop: "x", barcode: "x")) }
        for suffix in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: folder.file(kind) + suffix)
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: folder.file(kind) + suffix)
        }
        let reading = try run("read '\(folder.file(kind))'")
        #expect(reading.hasPrefix("error"), "\(reading)")
    }

    @Test(arguments: StoreKind.withKey)
    func `processes that create a store at once all write to it`(kind: StoreKind) throws {
        for round in 0..<3 {
            let inner = try TestFolder()
            _ = FileManager.default.createFile(atPath: inner.file("end"), contents: nil)
            let path = inner.file(kind)
            let peers = try (0..<4).map { _ in
                try PeerProcess(["commits", path, "5", "0", inner.file("end")], in: inner)
            }
            let mine = try Peer.open(path)
            _ = try mine.write { try $0.insert(PeerPerson(name: "here")) }
            for peer in peers {
                #expect(peer.wait() == 0, "round \(round): \(peer.lines.last ?? "")")
            }
            #expect(try mine.rows("SELECT count(*) FROM PeerPerson") == [[21]])
            mine.close()
            let again = try Peer.open(path)
            #expect(try again.rows("SELECT count(*) FROM PeerPerson") == [[21]])
            #expect(try again.checkIntegrity() == [])
        }
    }

    /// The only test with SQLCipher's default number of rounds, which is slow on purpose.
    @Test func `a passphrase opens a store and its provider is called once`() throws {
        let asked = Counter()
        let key = CipherKey.provider {
            asked.add()
            return .passphrase("верный конь батарея")
        }
        let store = try folder.open("a", key)
        try store.fillWithPeers()
        let rows = try Secrets.rows(store)
        // Readers of the store need no second call.
        DispatchQueue.concurrentPerform(iterations: 4) { _ in _ = try? Secrets.rows(store) }
        #expect(asked.value == 1)
        store.close()
        try folder.expectRefused(.wrongKey) { try folder.open("a", .passphrase("верный конь батарейка")) }
        #expect(try Secrets.rows(folder.open("a", .passphrase("верный конь батарея"))) == rows)
    }
}

/// A counter of calls.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    func add() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
    var value: Int { count.load(ordering: .sequentiallyConsistent) }
}
