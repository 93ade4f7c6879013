import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// No content of an encrypted store is in plain text in a file.
@Suite(.startsProcesses, .ownThreads) struct PlaintextTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    /// A text, its folded forms, its parts in the search index, and names of the schema.
    private static let needles = [
        "СекретПятёрочки", "секретпятерочки", "SecretLatin", "secretlatin", "Первый-Был", "первый-был", "ПослеПравки",
        "PeerCard", "__operations", "CREATE TABLE", "SQLite format",
    ]
    /// Three letters that the trigram index lists.
    private static let trigrams = ["пят"]

    private func write(_ store: Store) throws {
        let (card, person) = try store.write { tx in
            let person = try tx.insert(PeerPerson(name: "СекретПятёрочки SecretLatin"))
            let card = try tx.insert(
                PeerCard(shop: "Первый-Был СекретПятёрочки", barcode: "SecretLatin", owner: person.reference))
            return (card, person)
        }
        _ = person
        // Some more pages, an update with its payload, an operation that a delete replaces, and the pages that
        // compaction moves.
        try store.write { tx in
            try tx.update(PeerCard.self, localID: card.localID) { $0.shop = "ПослеПравки SecretLatin" }
            try store.applyServerObject(PeerCard(shop: "SecretLatin", barcode: "s"), serverID: "s")
            for index in 0..<100 { try tx.insert(PeerCard(shop: "СекретПятёрочки \(index)", barcode: "\(index)")) }
        }
        try store.write { tx in
            for card in try store.objects(PeerCard.self).all() where card.points == 0 && card.serverID != nil {
                try tx.update(PeerCard.self, localID: card.localID) { $0.shop = "Первый-Был SecretLatin" }
                try tx.delete(PeerCard.self, localID: card.localID)
            }
        }
    }

    private func found(_ name: String) throws -> Set<String> {
        var found: Set<String> = []
        for (file, bytes) in try PlainTextSearch.bytes(beside: folder.file(name)) where !file.hasPrefix("output") {
            for needle in Self.needles + Self.trigrams where bytes.shows(needle) {
                found.insert(needle)
            }
            for needle in Self.needles where bytes.shows(needle.data(using: .utf16LittleEndian)!) {
                found.insert(needle)
            }
        }
        return found
    }

    private func expect(_ kind: StoreKind, _ name: String, _ when: String) throws {
        let found = try found(name)
        if kind == .file {
            // The control: the texts are found in a plain store.
            #expect(found.count > 6, "\(when): \(found)")
        } else {
            #expect(found.isEmpty, "\(when)")
        }
    }

    @Test(arguments: StoreKind.files)
    func `written content is in no file while the store is open and afterwards`(kind: StoreKind) throws {
        let name = Peer.name(kind)
        let store = try Peer.open(folder.file(kind))
        try write(store)
        try expect(kind, name, "in the log")
        _ = try store.writer.queue.unsafeReentrantWrite { _ in
            try store.writer.connection.value("PRAGMA wal_checkpoint(PASSIVE)")
        }
        try expect(kind, name, "written back")
        try write2(store)
        try store.compact()
        try expect(kind, name, "compacted")
        let copy = folder.file("copy-\(name)")
        try store.backup(to: copy)
        try expect(kind, name, "copied")
        store.close()
        try expect(kind, name, "closed")
    }

    private func write2(_ store: Store) throws {
        // The transaction is large enough to spill out of the cache before it commits.
        try store.write { tx in
            for index in 0..<300 {
                try tx.insert(
                    PeerCard(shop: String(repeating: "СекретПятёрочки ", count: 200), barcode: "big \(index)"))
            }
        }
        _ = try store.objects(PeerCard.self).all()
    }

    @Test(arguments: StoreKind.files)
    func `content that a killed process wrote is in no file`(kind: StoreKind) throws {
        let name = Peer.name(kind)
        let peer = try PeerProcess(["write", folder.file(kind), "СекретПятёрочки SecretLatin Первый-Был"], in: folder)
        try #require(peer.waitForLine("written"))
        usleep(20_000)
        let open = try found(name)
        peer.kill()
        let killed = try found(name)
        if kind == .file {
            #expect(open.count > 6 && killed.count > 6)
        } else {
            #expect(open.isEmpty && killed.isEmpty, "\(open) \(killed)")
        }
        // The content exists.
        #expect(try Peer.open(folder.file(kind)).rows("SELECT count(*) > 0 FROM PeerPerson") == [[1]])
    }

    @Test(arguments: StoreKind.withKey)
    func `a change of key and an export leave nothing in plain text`(kind: StoreKind) throws {
        let name = Peer.name(kind)
        let store = try Peer.open(folder.file(kind))
        try write(store)
        let stop = Counter()
        let found = Mutex<Set<String>>([])
        let watcher = Thread { [self] in
            while stop.value == 0 {
                let now = (try? self.found(name)) ?? []
                found.withLock { $0.formUnion(now) }
            }
            stop.add()
        }
        watcher.start()
        try store.export(to: folder.file("copy"), key: Secrets.otherKey, profile: .sqlCipher4)
        try store.export(to: folder.file("copy2"), key: Secrets.otherKey)
        store.close()
        stop.add()
        while stop.value < 2 { usleep(1000) }
        // Reading the files while the peer runs would drop its locks.
        try Store.changeKey(
            at: folder.file(kind), from: StoreKind.key, profile: kind.profile!, to: Secrets.otherKey,
            newProfile: kind == .encrypted ? .sqlCipher4 : .aes256gcm)
        try expect(kind, name, "changed")
        #expect(found.withLock { $0 }.isEmpty)
    }
}
