import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

@Suite(.startsProcesses, .ownThreads) struct MaintenanceTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func fill(_ store: Store, cards: Int = 50) throws {
        try store.write { tx in
            let person = try tx.insert(PeerPerson(name: "Ада"))
            for index in 0..<cards {
                try tx.insert(
                    PeerCard(
                        shop: "Лента \(index) " + String(repeating: "я", count: 500), barcode: "\(index)",
                        owner: person.reference, people: [person.reference]))
            }
        }
    }

    private func allRows(_ store: Store) throws -> [[[StorageValue]]] {
        try [
            "PeerCard", "PeerPerson", "PeerMark", "__operations", "__links_PeerCard_people", "__settings",
            "__search_PeerCard_data",
        ]
        .map { try store.rows("SELECT * FROM \($0) ORDER BY 1, 2") }
    }

    // MARK: Backup

    @Test(arguments: StoreKind.files)
    func `a backup has the same rows`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        try fill(store)
        // The second round replaces the first backup.
        for _ in 0..<2 {
            try store.backup(to: folder.file("copy"))
            let copy = try Peer.open(folder.file("copy"), kind)
            #expect(try allRows(copy) == allRows(store))
            try copy.expectSound()
            copy.close()
            _ = try store.write { try $0.insert(PeerPerson(name: "later")) }
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("copy") } == ["copy"]
        )
    }

    @Test func `an in-memory store can be backed up`() throws {
        let store = try Store.inMemory(models: PeerCard.self, PeerPerson.self, PeerMark.self)
        try fill(store)
        try store.backup(to: folder.file("copy"))
        let copy = try Peer.open(folder.file("copy"))
        #expect(try allRows(copy) == allRows(store))
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.files)
    func `a backup is one state while others write`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        try whileOthersWrite(to: store, at: folder.file(kind), in: folder, count: 2000) {
            for round in 0..<5 {
                try store.backup(to: folder.file("copy-\(round)"))
                let copy = try Peer.open(folder.file("copy-\(round)"), kind)
                try copy.expectWholeTransactions()
                try copy.expectSound()
            }
        }
    }

    @Test(arguments: ["no store", ""], StoreKind.files)
    func `a backup does not replace a file that is not a store`(_ content: String, kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        try Data(content.utf8).write(to: URL(fileURLWithPath: folder.file("copy")))
        #expect(throws: TandemError.self) { try store.backup(to: folder.file("copy")) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("copy"))) == Data(content.utf8))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("copy") } == ["copy"]
        )
    }

    @Test(arguments: StoreKind.files)
    func `a backup does not replace another program's database`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        try folder.makeDatabase("CREATE TABLE t (x)", file: "copy")
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.file("copy")))
        expectError(.notAStore) { try store.backup(to: folder.file("copy")) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("copy"))) == before)
    }

    @Test(arguments: StoreKind.files)
    func `a backup does not replace an open store`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        let other = try Peer.open(folder.file("copy"), kind)
        _ = try other.write { try $0.insert(PeerPerson(name: "other")) }
        expectError(.busy) { try store.backup(to: folder.file("copy")) }
        expectError(.busy) { try store.backup(to: folder.file(kind)) }
        #expect(try other.rows("SELECT name FROM PeerPerson") == [["other"]])
        _ = try other.write { try $0.insert(PeerPerson(name: "still")) }
    }

    @Test(arguments: StoreKind.files)
    func `a failed backup leaves nothing`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        try fill(store)
        let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        expectError(.cannotOpen) { try store.backup(to: folder.file("none/copy")) }
        expectError(.cannotOpen) { try store.backup(to: folder.path) }
        expectError(.cannotOpen) { try store.backup(to: "") }
        expectError(.cannotOpen) { try store.backup(to: folder.file("a\u{0}b")) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }

    @Test(arguments: StoreKind.files)
    func `a backup inside a write is refused`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        try store.write { tx in
            _ = try tx.insert(PeerPerson(name: "x"))
            expectError(.invalidQuery) { try store.backup(to: folder.file("copy")) }
        }
        try store.read { _ in try store.backup(to: folder.file("copy")) }
        #expect(try Peer.open(folder.file("copy"), kind).operations.count() == 1)
    }

    // MARK: Compaction

    @Test(arguments: StoreKind.files)
    func `compacting frees space and changes nothing`(kind: StoreKind) throws {
        var store = try Peer.open(folder.file(kind))
        try fill(store, cards: 500)
        try store.write { tx in
            for index in 50..<500 {
                _ = try tx.delete(
                    PeerCard.self,
                    localID: LocalID(
                        try #require(
                            store.rows("SELECT localID FROM PeerCard WHERE barcode = '\(index)'").first?.first?.string))
                )
            }
        }
        // Closing moves the log's pages into the file.
        store.close()
        func size(_ suffix: String) throws -> Int {
            try #require(FileManager.default.attributesOfItem(atPath: folder.file(kind) + suffix)[.size] as? Int)
        }
        let full = try size("")
        store = try Peer.open(folder.file(kind))
        let before = try allRows(store)
        try store.compact()
        let compacted = try size("") + size("-wal")
        #expect(compacted < full / 2)
        #expect(try allRows(store) == before)
        #expect(try store.rows("SELECT count(*) FROM PeerCard") == [[50]])
        try store.compact()
        #expect(try size("") + size("-wal") <= compacted)
        try store.expectSound()
        expectError(.invalidQuery) { try store.write { _ in try store.compact() } }
        expectError(.invalidQuery) { try store.read { _ in try store.compact() } }
    }

    @Test(arguments: StoreKind.files)
    func `compacting waits for another writer`(kind: StoreKind) throws {
        _ = try Peer.open(folder.file(kind))
        let peer = try PeerProcess(["hold", folder.file(kind), folder.file("release")], in: folder)
        try #require(peer.waitForLine("holding"))
        let store = try Peer.open(folder.file(kind), busyTimeout: 0.1)
        expectError(.busy) { try store.compact() }
        _ = FileManager.default.createFile(atPath: folder.file("release"), contents: nil)
        peer.wait()
        try store.compact()
    }
}
