import Foundation
import Tandem
import Testing

@testable import DiscountCards

@Suite(.serialized, .timeLimit(.minutes(2))) struct LogInTests {
    @Test func `a login is stored with the server and the token`() async throws {
        try await withServer { server in
            let phone = try await Gadget("Мария", token: "maria", at: server)
            #expect(try phone.wallet.person.name == "Мария")
            try await phone.logIn("Мария")
            let session = try #require(try Session.current(in: phone.store))
            #expect([session.name, session.server, session.token] == ["Мария", server.url, "maria"])
            #expect(try phone.store.operations.all().map(\.model) == ["Person"], "a session is never sent")
        }
    }

    @Test func `another person's data is refused without --keep or --purge`()
        async throws
    {
        try await withServer { server in
            let phone = try await Gadget("Ada", token: "ada", at: server)
            try phone.add("Лента", number: 1)
            let refused = try await failure { try await phone.logIn("Мария", "--token", "maria") }
            #expect(refused?.status == .noPermission && refused?.message == "The data in this store is Ada's.")
            #expect(try phone.wallet.person.name == "Ada")
            try await phone.sync()
            #expect(try server.cards().map(\.owner) == ["Ada"])

            try phone.add("Магнит", number: 2)
            try await phone.logIn("Мария", "--token", "maria", "--keep")
            try await phone.sync()
            #expect(try server.cards().map(\.owner) == ["Ada", "Ada"], "unsent changes are sent unchanged")

            try phone.add("Ашан", number: 3)
            try await phone.logIn("Ada", "--token", "ada", "--purge")
            #expect(try phone.cards().isEmpty)
            try await phone.sync()
            #expect(try phone.cards().count == 2 && server.cards().count == 2, "unsent changes are dropped")
        }
    }

    @Test func `another server is refused by the first sync without --keep or --purge`() async throws {
        try await withServer { first in
            try await withServer { second in
                let phone = try await Gadget("Ada", token: "ada", at: first)
                try phone.add("Лента", number: 1)
                try await phone.sync()
                try await phone.logIn("Ada", "--server", second.url, "--token", "ada")
                let (_, failure) = try await phone.failingSync()
                #expect(failure.status == .noPermission && failure.advice?.contains("--keep") == true)
                #expect(try second.rows(of: "card").isEmpty)
                try await phone.logIn("Ada", "--purge")
                try await phone.sync()
                #expect(try phone.cards().isEmpty && second.rows(of: "person").count == 1)
            }
        }
    }

    @Test func `the token is in a private file, or only in the encrypted store`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cards-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for passphrase in [nil, "три тигра"] {
            let path = folder.appendingPathComponent(passphrase == nil ? "plain" : "secret").path
            let store = try Wallet.openStore(at: path, passphrase: passphrase)
            let login = try LogIn.parse(["Ada", "--server", "http://127.0.0.1:1"])
            try await login.logIn(to: store, environment: ["CARDS_TOKEN": "t0ken-of-ada"])
            #expect(try Session.current(in: store)?.token == "t0ken-of-ada")
            store.close()
            let again = try Wallet.openStore(at: path, passphrase: passphrase)
            _ = try await Wallet(again, as: "Ada").cards.count()
            let files = ["", "-wal", "-shm"].map { path + $0 }.filter(FileManager.default.fileExists)
            for file in files {
                let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
                #expect(mode == 0o600, "\(file)")
            }
            again.close()
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect((StolenFiles([bytes]).count(of: "t0ken-of-ada") == 0) == (passphrase != nil))
        }
    }

    @Test func `a login without a valid server is refused`() async throws {
        let store = try Store(inMemoryModels: Wallet.models)
        for arguments in [["Ada"], ["Ada", "--server", "cards"], ["Ada", "--server", "http://a.b", "--token", "a b"]] {
            let failure = try await failure { try await LogIn.parse(arguments).logIn(to: store, environment: [:]) }
            #expect(failure?.status == .usage, "\(arguments)")
        }
        #expect(try Session.current(in: store) == nil)
        let nobody = try await failure { try await CardSync(store).run(on: .output) }
        #expect(nobody?.status == .usage && nobody?.message == "No person is logged in.")
        #expect(throws: (any Error).self) { try LogIn.parse(["Ada", "--keep", "--purge"]) }
    }

    @Test func `an ID made from words is unique, and equal for equivalent spellings`() {
        #expect(LocalID.made(of: "person", "Ada") == LocalID.made(of: "person", "Ada"))
        #expect(LocalID.made(of: "person", "Orv\u{E9}a") == LocalID.made(of: "person", "Orve\u{301}a"))
        let others = [["person", "Ada"], ["brand", "Ada"], ["perso", "nAda"], ["person", "Ad", "a"], ["personAda"]]
        #expect(Set(others.map { words in LocalID.made(of: words.joined(separator: "\u{0}")) }).count == others.count)
        #expect(
            LocalID.made(of: "person", "Ad", "a") != LocalID.made(of: "person", "Ada")
                && LocalID.made(of: "perso", "nAda") != LocalID.made(of: "person", "Ada"))
        let id = LocalID.made(of: "person", "Ada").rawValue
        #expect(UUID(uuidString: id) != nil && id == id.lowercased() && Array(id)[14] == "8")
    }
}
