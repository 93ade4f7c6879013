import Foundation
import Tandem
import Testing

@testable import DiscountCards

/// A temporary folder of a test, removed when it is released.
private final class Folder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("cards-tests-\(UUID().uuidString)")
    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: url) }
    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

@Suite struct KeyTests {
    private let folder: Folder
    private let path: String

    init() throws {
        folder = try Folder()
        path = folder.path("secret.tandem")
    }

    /// The program, which a build puts beside the tests.
    private var program: URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("cards")
    }

    private func cards(_ arguments: String..., key: String? = nil) throws -> OtherProgram {
        try OtherProgram(arguments + ["--store", path], passphrase: key, program: program)
    }

    private func failure(_ passphrase: String?) -> Failure? {
        do {
            try Wallet.openStore(at: path, passphrase: passphrase).close()
            return nil
        } catch {
            return (error as? TandemError).map { Failure($0) }
        }
    }

    @Test func `a key comes from an argument, else from a variable that is not empty`() throws {
        let given = try StoreOptions.parse(["--key", "tiger"]).keyOptions
        let none = try StoreOptions.parse([]).keyOptions
        #expect(given.passphrase(in: ["CARDS_KEY": "lion"]) == "tiger")
        #expect(none.passphrase(in: ["CARDS_KEY": "lion"]) == "lion")
        #expect(none.passphrase(in: ["CARDS_KEY": ""]) == nil)
        #expect(none.passphrase(in: [:]) == nil)
    }

    @Test func `an encrypted store opens only with its key, and other attempts report the reason`() throws {
        let store = try Wallet.openStore(at: path, passphrase: "три тигра")
        #expect(store.isEncrypted)
        _ = try Wallet(store, as: "Мария")
        store.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))

        let wrong = try #require(failure("три тигрa"))  // a Latin a
        #expect(wrong.status == .noPermission && wrong.message.hasPrefix("The key does not open the file."))
        #expect(wrong.advice?.contains("CARDS_KEY") == true)
        #expect(failure(nil)?.status == .badData)
        #expect(failure("")?.status == .usage)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)

        let again = try Wallet.openStore(at: path, passphrase: "три тигра")
        #expect(try Wallet(again, as: nil).person.name == "Мария")
        again.close()
    }

    @Test func `a key for a plain store is refused, and the store is unchanged`() throws {
        try Wallet.openStore(at: path).close()
        let refused = try #require(failure("tiger"))
        #expect(refused.status == .badData && refused.advice == "Leave out --key, and unset CARDS_KEY.")
        #expect(failure(nil) == nil)
    }

    @Test func `commands create, search and watch an encrypted store with a key from either source`() throws {
        let number = EAN13(payload: 299_999_999_980).digits
        try cards("add", "Пятёрочка", EAN13(payload: 1).digits, "--key", "tiger").finish()
        let found = try cards("search", "пятероч", key: "tiger").finish()
        #expect(found.contains { $0.contains("Пятёрочка") })

        let watcher = try cards("watch", "пятероч", "--plain", "--changes", "2", "--seconds", "60", key: "tiger")
        #expect(watcher.nextLine() == "1. 1 card: Пятёрочка (Me)")
        try cards("add", "Пятёрочка у дома", number, key: "tiger").finish()
        #expect(watcher.nextLine() == "2. 2 cards: + Пятёрочка у дома (Me)")
        try watcher.finish()

        #expect(try cards("list", "--key", "lion", key: "tiger").finish(.noPermission).first?.contains("key") == true)
        try cards("list").finish(.badData)
        #expect(StolenFiles([try Data(contentsOf: URL(fileURLWithPath: path))]).count(of: "Пятёрочка") == 0)
    }
}
