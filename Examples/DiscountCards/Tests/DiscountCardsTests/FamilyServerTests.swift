import Foundation
import Tandem
import TandemServer
import Testing

@testable import DiscountCards

@Suite(.serialized, .timeLimit(.minutes(2))) struct FamilyServerTests {
    @Test func `a restarted server still knows its card numbers`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cards-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("server.tandem").path
        for (shop, isTaken) in [("Лента", false), ("Магнит", true)] {
            let core = try FamilyServer.core(users: [:], file: file)
            let server = try await FamilyServer.start(core, port: 0)
            let store = try Store(inMemoryModels: Wallet.models)
            try await LogIn.parse([shop, "--server", server.url.absoluteString]).logIn(to: store, environment: [:])
            try add(shop, to: store)
            let failure = try await failure {
                try await Paper().print { try await CardSync(store).run(on: $0) }
            }
            #expect(failure?.message == (isTaken ? "1 change needs a decision." : nil))
            #expect(try core.rows(in: "card").count == 1)
            try await server.stop()
            core.store.close()
        }
    }

    private func add(_ shop: String, to store: Store) throws {
        try store.write { tx in _ = try tx.insert(Card(shop: shop, barcode: EAN13(payload: 1).digits)) }
    }

    @Test func `the program serves, logs in, syncs and decides`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cards-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("cards")
        func cards(_ arguments: String..., ends status: Failure.Status? = nil) throws -> [String] {
            try OtherProgram(arguments, token: "t0ken", in: folder, program: program).finish(status)
        }
        let server = try OtherProgram(["serve", "--port", "0", "--user", "t0ken=Ada"], program: program)
        _ = try #require(server.nextLine())
        let hint = try #require(server.nextLine())
        #expect(hint.hasPrefix("cards login NAME --server http://127.0.0.1:"))
        let url = String(hint.split(separator: " ")[4])

        #expect(try cards("sync", ends: .noInput).first?.contains("there is no store") == true)
        #expect(try cards("login", "Ada", "--server", url).first?.hasPrefix("Logged in: Ada, at http") == true)
        _ = try cards("add", "Лента", EAN13(payload: 1).digits, "--brand", "Лента")
        #expect(try cards("sync").last == "  ✓ In step with \(url), as Ada.")
        #expect(try cards("list").contains { $0.contains("Ada") && $0.hasSuffix("on the server") })
        #expect(try cards("conflicts") == ["No change needs a decision."])
        #expect(try cards("pending") == ["No change is pending."])
        _ = try cards("edit", "лента", "--add-points", "5")
        #expect(try cards("conflicts", "4711", "--mine", ends: .badData).first?.contains("4711") == true)
        #expect(try cards("conflicts", "4711", ends: .usage).isEmpty == false)
        #expect(try cards("list").contains { $0.hasSuffix("not sent") })
    }
}
