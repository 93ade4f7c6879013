import Foundation
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Damaged files cause an error, never a crash.
///
/// They never cause a wrong result without an error where SQLite can detect the damage.
@Suite(.ownThreads) struct DamageTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func makeStore() throws -> Data {
        let store = try Peer.open(folder.file())
        try store.write { tx in
            let person = try tx.insert(PeerPerson(name: "Ада"))
            for index in 0..<300 {
                try tx.insert(
                    PeerCard(
                        shop: String(repeating: "Лента \(index) ", count: 20), barcode: "\(index)",
                        owner: person.reference, people: [person.reference]))
            }
        }
        store.close()
        return try Data(contentsOf: URL(fileURLWithPath: folder.file()))
    }

    /// Opens a damaged store, reads everything, writes and closes it.
    private func use() throws {
        let store = try Peer.open(folder.file(), busyTimeout: 1)
        defer { store.close() }
        for table in ["PeerCard", "PeerPerson", "__operations"] { _ = try store.sql("SELECT * FROM \(table)") }
        _ = try store.operations.all()
        _ = try store.sql("PRAGMA integrity_check")
        _ = try store.sql("SELECT rowid FROM __search_PeerCard WHERE __search_shop GLOB '*лента*'")
        try store.write { tx in
            try tx.insert(PeerCard(shop: "new", barcode: "new"))
            for row in try store.sql("SELECT localID FROM PeerCard LIMIT 50") {
                guard let id = row[0].string else { continue }
                try tx.update(PeerCard.self, localID: LocalID(id)) { $0.shop += "!" }
            }
            for row in try store.sql("SELECT localID FROM PeerPerson") {
                guard let id = row[0].string else { continue }
                try tx.delete(PeerPerson.self, localID: LocalID(id))
            }
        }
        try store.compact()
    }

    private func expectErrorOrNone(_ context: String) {
        do {
            try use()
        } catch is TandemError {
        } catch {
            Issue.record("\(context): \(error)")
        }
    }

    @Test func `a truncated file is an error`() throws {
        let whole = try makeStore()
        var codes: Set<TandemError.Code> = []
        for length in [whole.count - 4096, whole.count / 2, 8192, 4096, 4095, 512, 100, 99, 20, 16] {
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.file() + suffix) }
            try whole.prefix(length).write(to: URL(fileURLWithPath: folder.file()))
            do {
                try use()
                Issue.record("\(length) of \(whole.count) bytes were taken for a store")
            } catch let error as TandemError {
                codes.insert(error.code)
            }
        }
        #expect(codes.isSubset(of: [.corrupt, .notAStore, .ioFailure]), "\(codes)")
    }

    @Test func `random bytes in a page never cause a crash`() throws {
        let whole = try makeStore()
        let base =
            ProcessInfo.processInfo.environment["TANDEM_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 0...999_999)
        print("DamageTests: TANDEM_SEED=\(base)")
        let rounds = isSoak ? 3000 : 150
        for round in 0..<rounds {
            var random = PeerRandom(base &+ UInt64(round))
            var bytes = whole
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                // Half of them are in the header of a page, where they do the most damage.
                let page = Int.random(in: 0..<whole.count / 4096, using: &random) * 4096
                let start = page + (Bool.random(using: &random) ? 0 : Int.random(in: 0..<4000, using: &random))
                for offset in start..<min(start + Int.random(in: 1...64, using: &random), bytes.count)
                where offset >= 100 {
                    bytes[offset] = UInt8.random(in: 0...255, using: &random)
                }
            }
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.file() + suffix) }
            try bytes.write(to: URL(fileURLWithPath: folder.file()))
            expectErrorOrNone("seed \(base &+ UInt64(round))")
        }
    }

    @Test func `a damaged log loses at most its own transactions`() throws {
        _ = try makeStore()
        let store = try Peer.open(folder.file())
        for index in 0..<20 { _ = try store.write { try $0.insert(PeerPerson(name: "\(index)")) } }
        let copy = try TestFolder()
        let log = try Data(contentsOf: URL(fileURLWithPath: store.path + "-wal"))
        for seed in 0..<20 as Range<UInt64> {
            var random = PeerRandom(seed)
            var bytes = log
            bytes[Int.random(in: 32..<bytes.count, using: &random)] ^= 0x55
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.file() + suffix) }
            try Data(contentsOf: URL(fileURLWithPath: store.path)).write(to: URL(fileURLWithPath: copy.file()))
            try bytes.write(to: URL(fileURLWithPath: copy.file() + "-wal"))
            let damaged = try Peer.open(copy.file())
            let count = try #require(try damaged.rows("SELECT count(*) FROM PeerPerson")[0][0].int)
            #expect((1...21).contains(count))
            try damaged.expectSound()
            damaged.close()
        }
    }

    @Test(arguments: [
        ("formatVersion", "'x'"), ("schemaVersion", "NULL"), ("foldingVersion", "x'00'"), ("schemaStamp", "5"),
        ("schema", "'{'"), ("schema", "'{\"models\":[{}]}'"), ("schema", "NULL"),
    ])
    func `a damaged setting is an error that names it`(_ key: String, _ value: String) throws {
        _ = try makeStore()
        try folder.withDatabase { connection in
            try connection.execute("UPDATE __settings SET value = \(value) WHERE key = '\(key)'")
        }
        let before = try folder.storeBytes()
        let error = expectError(.corrupt) { try Peer.open(folder.file()) }
        #expect(error?.message.contains(key) == true && error?.store == folder.file())
        #expect(try folder.storeBytes() == before)
    }

    @Test(arguments: ["DELETE FROM __settings", "DROP TABLE __settings", "DELETE FROM __settings WHERE key = 'schema'"])
    func `missing settings are an error`(_ sql: String) throws {
        _ = try makeStore()
        try folder.withDatabase { try $0.execute(sql) }
        let before = try folder.storeBytes()
        expectError(.corrupt) { try Peer.open(folder.file()) }
        #expect(try folder.storeBytes() == before)
        expectError(.corrupt) { try Peer.open(folder.file(), readOnly: true) }
        #expect(try folder.storeBytes()["store.tandem"] == before["store.tandem"])
    }

    @Test(arguments: ["x", "", "x'01FF'", "x'0101'", "x'010105616263646505'"])
    func `a damaged operation is an error where it is read`(_ changes: String) throws {
        _ = try makeStore()
        try folder.withDatabase { connection in
            try connection.execute(
                "UPDATE __operations SET changes = \(changes.hasPrefix("x'") ? changes : "'\(changes)'")")
        }
        let store = try Peer.open(folder.file())
        expectError(.corrupt) { try store.operations.all() }
        #expect(try store.operations.count() == 301)
        store.close()
    }

    @Test func `a damaged list of references is an error where it is changed`() throws {
        _ = try makeStore()
        try folder.withDatabase { try $0.execute("UPDATE PeerCard SET people = '[' WHERE barcode = '7'") }
        let store = try Peer.open(folder.file())
        let person = try #require(try store.rows("SELECT localID FROM PeerPerson")[0][0].string)
        let error = expectError(.corrupt) {
            try store.write { try $0.delete(PeerPerson.self, localID: LocalID(person)) }
        }
        #expect(error?.store == folder.file() && error?.underlying != nil)
        #expect(try store.operations.count() == 301)
    }
}
