import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

/// The code of the article on encryption, compiled and run. The lines between the markers are the article's own, which
/// the last test makes sure of.
@Suite(.ownThreads) struct EncryptionArticleTests {
    @Model struct Card {
        @Folded var shop: String
    }

    private let folder: TemporaryFolder
    private let path: String
    private let typed = "correct horse"

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path(of: "cards.tandem")
    }

    @Test func `a store with a passphrase is encrypted`() throws {
        defer { folder.remove() }
        // Encryption begins
        let store = try Store(at: path, key: .passphrase(typed), models: Card.self)
        // Encryption ends
        #expect(store.isEncrypted)
        store.close()
        #expect(throws: TandemError.self) { try Store(at: path, models: Card.self) }
    }

    private struct Keychain: Sendable {
        func read(_ name: String) throws -> [UInt8] { [UInt8](repeating: UInt8(name.utf8.count), count: 32) }
    }

    @Test func `opening calls the provider of the key`() throws {
        defer { folder.remove() }
        let keychain = Keychain()
        // Encryption begins
        let key = CipherKey.provider { try .raw(keychain.read("cards")) }
        let store = try Store(at: path, key: key, models: Card.self)
        // Encryption ends
        store.close()
        try Store(at: path, key: .raw([UInt8](repeating: 5, count: 32)), models: Card.self).close()
    }

    /// Returns the store that opens, and whether the user is asked for another key.
    private func opened(with key: CipherKey) throws -> (store: Store?, wasAskedAgain: Bool) {
        var wasAskedAgain = false
        func askAgain() { wasAskedAgain = true }
        // Encryption begins
        func open(_ key: CipherKey) throws -> Store? {
            do {
                return try Store(at: path, key: key, models: Card.self)
            } catch TandemError.Code.wrongKey {
                askAgain()
                return nil
            } catch TandemError.Code.notEncrypted {
                try Store.encrypt(at: path, key: key)
                return try Store(at: path, key: key, models: Card.self)
            }
        }
        // Encryption ends
        return (try open(key), wasAskedAgain)
    }

    @Test func `a plain store is encrypted and a wrong key is asked for again`() throws {
        defer { folder.remove() }
        try Store(at: path, models: Card.self).close()
        let (store, wasAskedAgain) = try opened(with: StoreKind.key)
        #expect(store?.isEncrypted == true && !wasAskedAgain)
        store?.close()
        let other = try opened(with: .raw([UInt8](repeating: 0, count: 32)))
        #expect(other.store == nil && other.wasAskedAgain)
    }

    @Test func `a plain store gets a key and later another one`() throws {
        defer { folder.remove() }
        try Store(at: path, models: Card.self).close()
        let random = [UInt8](32..<64)
        // Encryption begins
        try Store.encrypt(at: path, key: .passphrase(typed))
        try Store.changeKey(at: path, from: .passphrase(typed), to: .raw(random))
        // Encryption ends
        try Store(at: path, key: .raw(random), models: Card.self).close()
    }

    @Test func `copies have the requested keys`() throws {
        defer { folder.remove() }
        let shared = "for both of us"
        let (backup, exchange, plain) = (folder.path(of: "1"), folder.path(of: "2"), folder.path(of: "3"))
        let store = try Store(at: path, key: StoreKind.key, models: Card.self)
        try store.write { _ = try $0.insert(Card(shop: "Пятёрочка")) }
        // Encryption begins
        try store.backup(to: backup)
        try store.export(to: exchange, key: .passphrase(shared), profile: .sqlCipher4)
        try store.exportPlain(to: plain)
        // Encryption ends
        let copies = [
            try Store(at: backup, key: StoreKind.key, models: Card.self),
            try Store(at: exchange, key: .passphrase(shared), profile: .sqlCipher4, models: Card.self),
            try Store(at: plain, models: Card.self), store,
        ]
        for copy in copies {
            #expect(try copy.objects(Card.self).where { $0.shop.matches("пятероч") }.count() == 1)
            copy.close()
        }
    }

    @Test func `opening a store needs the options of its profile`() throws {
        defer { folder.remove() }
        // Encryption begins
        let store = try Store(
            at: path, key: .passphrase(typed), profile: .sqlCipher4(pageSize: 8192, iterations: 64_000),
            models: Card.self)
        // Encryption ends
        store.close()
        #expect(try opened(with: .passphrase(typed)).wasAskedAgain)
    }

    @Test func `salvage recovers the readable part of a damaged store`() throws {
        defer { folder.remove() }
        let key = StoreKind.key
        let rescued = folder.path(of: "rescued.tandem")
        let whole = try Store(at: path, key: key, models: Card.self)
        try whole.write { _ = try $0.insert(Card(shop: "Пятёрочка")) }
        whole.close()
        var printed: [[Any]] = []
        func print(_ values: Any...) { printed.append(values) }
        // Encryption begins
        let report = try Store.salvage(at: path, key: key, to: rescued)
        print(report.isComplete, report.damagedPages, report.lostRows)
        let store = try Store(at: rescued, key: key, models: Card.self)
        print(try store.checkIntegrity())
        // Encryption ends
        #expect(printed.count == 2)
        #expect(try store.objects(Card.self).all().map(\.shop) == ["Пятёрочка"])
        store.close()
    }

    @Test func `the article shows the tested code`() throws {
        let tested = try Snippets.marked("Encryption", in: #filePath)
        let written = try Snippets.blocks(of: "Sources/Tandem/Tandem.docc/Encryption.md")
        #expect(written.count == 7)
        for block in written { #expect(tested.contains(block), "\(block)") }
        #expect(tested.count == written.count)
    }
}
