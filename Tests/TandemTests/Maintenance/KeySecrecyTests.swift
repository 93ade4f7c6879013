import Foundation
import GRDBSQLite
import OpenCombine
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import SQLiteCipher
@testable import Tandem
@testable import TandemTestScript

/// A key is in no printed text, and nowhere in memory after its store is closed.
@Suite(.ownThreads) struct KeySecrecyTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private static let text = "S3CRETS3CRETS3CRETS3CRETS3CRET!!"
    private static let raw = CipherKey.raw(Array(text.utf8))
    private static let passphrase = CipherKey.passphrase(text)

    /// Checks that a text does not contain the key itself, its hexadecimal digits or its printed array.
    private func expectSecret(_ printed: String, sourceLocation: SourceLocation = #_sourceLocation) {
        for form in ["S3CRET", "533343524554", "83, 51, 67, 82"] {
            #expect(!printed.lowercased().contains(form.lowercased()), "\(form)", sourceLocation: sourceLocation)
        }
    }

    private func printed(_ value: Any) -> String {
        var text = "\(value) \(String(reflecting: value))"
        dump(value, to: &text, maxDepth: 20, maxItems: 100_000)
        return text
    }

    @Test(arguments: [CipherProfile.aes256gcm(iterations: 10), .sqlCipher4(iterations: 10)])
    func `no error, description or dump contains the key`(profile: CipherProfile) throws {
        struct Locked: Error {}
        for key in [Self.raw, Self.passphrase, .provider { Self.raw }] {
            expectSecret(printed(key))
            let name = UUID().uuidString
            let store = try folder.open(name, key, profile)
            try store.fillWithPeers(cards: 3)
            expectSecret(printed(store))
            expectSecret(printed(store.configuration))
            expectSecret(try printed(store.rows("PRAGMA database_list")))
            let busy = expectError(.busy) {
                try Store.changeKey(at: folder.file(name), from: key, profile: profile, to: Self.raw)
            }
            expectSecret(printed(try #require(busy)))
            store.close()
            var errors: [TandemError?] = []
            errors.append(expectError(.wrongKey) { try folder.open(name, Secrets.otherKey, profile) })
            errors.append(
                expectError(.wrongKey) { try folder.open(name, .passphrase(Self.text + "!"), profile) })
            errors.append(
                expectError(.invalidKey) { try folder.open(name, .raw(Array((Self.text + "!").utf8)), profile) })
            errors.append(expectError(.keyUnavailable) { try folder.open(name, .provider { throw Locked() }, profile) })
            _ = try folder.makeStore(.file, name + "plain", cards: 1)
            errors.append(expectError(.notEncrypted) { try folder.open(name + "plain", key, profile) })
            errors.append(expectError(.notAStore) { try folder.open(name, nil) })
            try folder.damage(name, page: 1)
            errors.append(expectError(.corrupt) { try folder.open(name, key, profile) })
            for error in errors { expectSecret(printed(try #require(error))) }
        }
    }

    @Test(arguments: StoreKind.withKey)
    func `the name in SQLite does not contain the key`(kind: StoreKind) throws {
        let store = try folder.open("a", Self.raw, kind.profile!)
        let connection = store.writer.connection.sqlite
        let name = try #require(sqlite3_db_filename(connection, "main"))
        var parameters: [String] = []
        while let key = sqlite3_uri_key(name, Int32(parameters.count)) {
            parameters.append(String(cString: key))
            expectSecret(String(cString: sqlite3_uri_parameter(name, key)))
        }
        #expect(parameters.sorted() == ["kid", "vfs"])
        expectSecret(try store.rows("SELECT sql FROM sqlite_master").description)
    }

    /// Returns the name under which the encryption keeps the key of an open store.
    private func handle(of store: Store) throws -> String {
        let name = try #require(sqlite3_db_filename(store.writer.connection.sqlite, "main"))
        return String(cString: try #require(sqlite3_uri_parameter(name, "kid")))
    }

    @Test(arguments: StoreKind.withKey)
    func `nothing holds the key after closing, even while the store object exists`(kind: StoreKind) throws {
        let store = try folder.open("a", Self.raw, kind.profile!)
        let handle = try handle(of: store)
        try store.fillWithPeers()
        let deliveries = Counter()
        let subscription = store.objects(PeerCard.self).countPublisher.on(.immediate)
            .sink(receiveCompletion: { _ in }) { _ in deliveries.add() }
        // Readers, copies and checks have their own connections.
        DispatchQueue.concurrentPerform(iterations: 4) { _ in _ = try? Secrets.rows(store) }
        try store.backup(to: folder.file("copy"))
        try store.export(to: folder.file("other"), key: Secrets.otherKey)
        _ = try store.checkIntegrity()
        #expect(deliveries.value > 0)
        weak let entry = KeyRegistry.entry(handle)
        #expect(entry != nil)
        store.close()
        #expect(KeyRegistry.entry(handle) == nil && entry == nil)
        // The store object exists and reports that it is closed.
        expectError(.closed) { try store.sql("SELECT 1") }
        #expect(store.isEncrypted)
        subscription.cancel()
    }

    @Test(arguments: StoreKind.withKey)
    func `a reader in use keeps the key until it finishes`(kind: StoreKind) throws {
        let store = try folder.open("a", Self.raw, kind.profile!)
        let handle = try handle(of: store)
        try store.fillWithPeers()
        let reading = DispatchSemaphore(value: 0)
        let closed = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let counts = Mutex<[Int]>([])
        Thread.detachNewThread {
            try? store.read { _ in
                reading.signal()
                closed.wait()
                let rows = try store.sql("SELECT count(*) FROM PeerCard WHERE shop GLOB '*Ёлка*'")
                counts.withLock { $0.append(rows[0][0].int ?? -1) }
            }
            done.signal()
        }
        reading.wait()
        store.close()
        #expect(KeyRegistry.entry(handle) != nil)
        closed.signal()
        done.wait()
        #expect(KeyRegistry.entry(handle) == nil)
        _ = counts
    }

    @Test(arguments: StoreKind.withKey)
    func `a store that could not be opened keeps no key`(kind: StoreKind) throws {
        _ = try folder.makeStore(kind, "a")
        let probe = Counter()
        final class Token: Sendable {}
        weak var token: Token?
        do {
            let held = Token()
            token = held
            // The objects that a key holds are released with it, here those of a provider's closure.
            let key = CipherKey.provider {
                _ = held
                probe.add()
                return Secrets.otherKey
            }
            expectError(.wrongKey) { try folder.open("a", key, kind.profile!) }
        }
        #expect(probe.value > 0)
        // A background decryption may still be in progress.
        for _ in 0..<500 where token != nil { usleep(2000) }
        #expect(token == nil)
    }
}
