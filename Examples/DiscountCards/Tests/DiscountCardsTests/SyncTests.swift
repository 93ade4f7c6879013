import Foundation
import Tandem
import TandemSync
import Testing

@testable import DiscountCards

@Suite(.serialized, .timeLimit(.minutes(2))) struct SyncTests {
    @Test func `an added card arrives on the other device with its owner and brand`() async throws {
        try await withServer { server in
            let phone = try await Gadget("Ada", token: "ada", at: server)
            let tablet = try await Gadget("Мария", token: "maria", at: server)
            try phone.add("Лента", number: 1)
            #expect(try phone.state(of: "лента") == "not sent")
            #expect(
                try await phone.sync() == [
                    "  Received  nothing", "  Sent      1 new person, 1 new brand, 1 new card",
                    "  ✓ In step with \(server.url), as Ada.",
                ])
            #expect(try phone.state(of: "лента") == "on the server")
            #expect(try await tablet.sync().first == "  Received  1 new person, 1 new brand, 1 new card")
            #expect(try tablet.cards() == ["Лента (Лента) of Ada, 0 points"])
        }
    }

    @Test func `the same person, brand and star added on two devices are one object each`() async throws {
        try await withServer { server in
            let phone = try await Gadget("Ada", token: "ada", at: server)
            let tablet = try await Gadget("Ada", token: "ada", at: server)
            try phone.add("Лента", number: 1)
            try await phone.sync()
            try await tablet.sync()
            for gadget in [phone, tablet] {
                try await gadget.store.write { tx in _ = try Brand.named("Магнит", in: tx) }
                #expect(try gadget.star("лента"))
            }
            try await phone.sync()
            #expect(
                try await tablet.sync().contains(
                    "  On the server already, and not sent twice: 1 new brand, 1 new star."))
            try await phone.sync()
            for gadget in [phone, tablet] {
                #expect(try await gadget.store.objects(Person.self).count() == 1)
                #expect(try await gadget.store.objects(Brand.self).count() == 2)
                #expect(try await gadget.store.objects(Star.self).count() == 1)
            }
            #expect(try ["person", "brand", "star"].map { try server.rows(of: $0).count } == [1, 2, 1])
        }
    }

    @Test func `a star that is removed and given again exists on both devices`() async throws {
        try await withServer { server in
            let phone = try await Gadget("Ada", token: "ada", at: server)
            let tablet = try await Gadget("Ada", token: "ada", at: server)
            try phone.add("Лента", number: 1)
            for isStarred in [true, false, true] {
                #expect(try phone.star("лента") == isStarred)
                try await phone.sync()
                try await tablet.sync()
                #expect(try tablet.wallet.starredCards().isEmpty == !isStarred)
            }
            #expect(try tablet.star("лента") == false)
            #expect(try tablet.star("лента") == true)
            try await tablet.sync()
            try await phone.sync()
            #expect(try phone.wallet.starredCards().count == 1)
        }
    }

    @Test func `an unreachable server changes nothing, and the next sync continues`() async throws {
        try await withServer { server in
            let phone = try await Gadget("Ada", token: "ada", at: server)
            try phone.add("Лента", number: 1)
            try await server.close()
            let (lines, failure) = try await phone.failingSync()
            #expect(
                lines.isEmpty && failure.status == .tryAgain && failure.message == "\(server.url) can't be reached.")
            #expect(try phone.store.operations.count() == 3)
            try await server.reopen()
            try await phone.sync()
            #expect(try server.cards().map(\.shop) == ["Лента"])
        }
    }

    @Test func `a lost response creates no duplicate`() async throws {
        try await withServer { server in
            let phone = try await Gadget("Ada", token: "ada", at: server)
            try await phone.sync()
            try await phone.store.write { tx in
                _ = try tx.insert(Card(shop: "Лента", barcode: EAN13(payload: 1).digits))
            }
            server.loseNextResponse()
            let (_, failure) = try await phone.failingSync()
            #expect(failure.status == .tryAgain && failure.message.contains(" was lost: "))
            #expect(try phone.state(of: "лента") == "no response yet")
            #expect(try await phone.sync().contains("  On the server already, and not sent twice: 1 new card."))
            #expect(try server.cards().count == 1 && phone.state(of: "лента") == "on the server")
        }
    }

    @Test(arguments: ["unknown", "-"]) func `an invalid or missing token has its own status`(
        token: String
    ) async throws {
        try await withServer { server in
            let phone = try await Gadget("Ada", token: token == "-" ? "" : token, at: server)
            try phone.add("Лента", number: 1)
            let (_, failure) = try await phone.failingSync()
            #expect(failure.status == .noPermission && failure.advice?.contains("--token") == true)
            #expect(try phone.store.operations.count() == 3)
            try await phone.logIn("Ada", "--token", "ada")
            try await phone.sync()
            #expect(try server.cards().count == 1)
        }
    }

    @Test func `the progress of a sync is one line`() {
        #expect(SyncProgress.line(.pushing(done: 1200, total: 4000)) == "Sending: 1,200 of 4,000")
        #expect(SyncProgress.line(.pulling(table: "Card", received: 100, total: nil)) == "Receiving Card: 100")
        #expect(SyncProgress.line(.pulling(table: "Card", received: 100, total: 250)) == "Receiving Card: 100 of 250")
        #expect(SyncProgress.line(nil) == nil)
    }
}
