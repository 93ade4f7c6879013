import Foundation
import Tandem
import TandemSync
import Testing

@testable import DiscountCards

@Suite(.serialized, .timeLimit(.minutes(2))) struct ConflictTests {
    /// Runs a body with two devices that both have a card of Лента with 40 points.
    private func withBoth(
        _ body: (_ server: InProcessServer, _ phone: Gadget, _ tablet: Gadget) async throws -> Void
    ) async throws {
        try await withServer { server in
            let phone = try await Gadget("Ada", token: "ada", at: server)
            let tablet = try await Gadget("Мария", token: "maria", at: server)
            try phone.add("Лента", number: 1)
            try phone.edit("лента") { $0.points = 40 }
            try await phone.sync()
            try await tablet.sync()
            try await phone.sync()
            try await body(server, phone, tablet)
            let expected = try server.cards().map(\.shop)
            for gadget in [phone, tablet] {
                try await gadget.sync()
                #expect(try await gadget.store.objects(Card.self).sorted(by: \.barcode).all().map(\.shop) == expected)
                #expect(try gadget.store.operations.count() == 0)
            }
        }
    }

    @Test func `changes of different properties are merged`() async throws {
        try await withBoth { server, phone, tablet in
            try phone.edit("лента") { $0.shop = "Лента 24" }
            try tablet.edit("лента") { $0.points += 60 }
            try await phone.sync()
            #expect(try await tablet.sync().contains("  Merged with others' changes: 1 changed card."))
            try await phone.sync()
            for gadget in [phone, tablet] {
                #expect(try gadget.cards() == ["Лента 24 (Лента) of Ada, 100 points"])
            }
        }
    }

    @Test(arguments: [Conflicts.Choice.mine, .theirs, .discard])
    func `a conflict in one property gets the user's choice on both devices`(
        choice: Conflicts.Choice
    ) async throws {
        try await withBoth { server, phone, tablet in
            try phone.edit("лента") { $0.points = 1200 }
            try tablet.edit("лента") { $0.points = 1500 }
            try await phone.sync()
            let (lines, failure) = try await tablet.failingSync()
            #expect(failure.status == .badData && failure.message == "1 change needs a decision.")
            let words = "Both sides changed its points (was 40; here 1,500; on the server 1,200)."
            #expect(lines.contains { $0.hasSuffix(words) })
            #expect(try tablet.state(of: "лента") == "in conflict")
            let number = try #require(try tablet.firstOperation()).id
            #expect(
                try await tablet.conflicts() == [
                    "  \(number)  update of the card Лента (\(EAN13(payload: 1).digits))", "      \(words)",
                    "      --mine, --theirs, --discard or --hold",
                ])
            let sentence = try await tablet.decide(choice)
            #expect(sentence.hasSuffix(choice == .mine ? "`cards sync` sends your values." : "Not sent: points."))
            try await tablet.sync()
            try await phone.sync()
            let points = choice == .mine ? "1500" : "1200"
            #expect(try server.cards().map(\.points) == [points])
            #expect(try await phone.store.objects(Card.self).all().map { "\($0.points)" } == [points])
        }
    }

    @Test(arguments: [Conflicts.Choice.mine, .theirs])
    func `an edit of a card deleted by another person asks the user`(choice: Conflicts.Choice) async throws {
        try await withBoth { server, phone, tablet in
            try phone.delete("лента")
            try tablet.edit("лента") { $0.points = 1500 }
            try await phone.sync()
            let (lines, _) = try await tablet.failingSync()
            #expect(
                lines.contains {
                    $0.hasSuffix("It was deleted on the server, and changed here: points (was 40; here 1,500).")
                })
            try await tablet.decide(choice)
            try await tablet.sync()
            #expect(try server.cards().map(\.points) == (choice == .mine ? ["1500"] : []))
        }
    }

    @Test(arguments: [Conflicts.Choice.mine, .theirs])
    func `a deletion of a card changed by another person asks the user`(choice: Conflicts.Choice) async throws {
        try await withBoth { server, phone, tablet in
            try phone.edit("лента") { $0.points = 1200 }
            try tablet.delete("лента")
            try await phone.sync()
            let (lines, _) = try await tablet.failingSync()
            #expect(
                lines.contains {
                    $0.hasSuffix(
                        "It was deleted here, and changed on the server: points (was 40; on the server 1,200).")
                })
            try await tablet.decide(choice)
            try await tablet.sync()
            #expect(try server.cards().map(\.points) == (choice == .mine ? [] : ["1200"]))
        }
    }

    @Test func `a duplicate number is refused, and sent after a correction`() async throws {
        try await withBoth { server, phone, tablet in
            try phone.add("Магнит", number: 2)
            try await phone.sync()
            try tablet.add("Ашан", number: 2)
            let (lines, failure) = try await tablet.failingSync()
            let number = EAN13(payload: 2).digits
            #expect(
                failure.status == .badData
                    && lines.contains("  A card was not received: a local one has the same barcode."))
            #expect(lines.contains { $0.hasSuffix("The number \(number) is on another card already: Магнит.") })
            #expect(try tablet.state(of: "ашан") == "refused")
            #expect(
                try await tablet.conflicts().last == "      `cards edit` to correct it, --retry, --discard or --hold")
            try tablet.edit("ашан") { $0.barcode = EAN13(payload: 3).digits }
            let mended = try await tablet.sync()
            #expect(mended.prefix(2) == ["  Received  1 new card", "  Sent      1 new card"])
            try await phone.sync()
            #expect(try server.cards().map(\.shop) == ["Лента", "Магнит", "Ашан"])
        }
    }

    @Test func `a held change stays in the queue, is not a failure, and is sent when retried`() async throws {
        try await withBoth { server, phone, tablet in
            try phone.edit("лента") { $0.points = 1200 }
            try await phone.decide(.hold)
            #expect(try await phone.sync().prefix(2) == ["  Received  nothing", "  Sent      nothing"])
            #expect(try phone.state(of: "лента") == "held back")
            #expect(
                try await phone.conflicts().last == "      Held back. --retry sends it, --discard undoes it.")
            try await phone.decide(.retry)
            try await phone.sync()
            #expect(try server.cards().map(\.points) == ["1200"])
            #expect(try await phone.conflicts() == ["No change needs a decision."])
        }
    }

    @Test func `a decision about an unknown change is refused`() async throws {
        try await withBoth { _, phone, _ in
            let failure = try await failure { _ = try await CardSync(phone.store).decide(4711, choice: .mine) }
            #expect(failure?.status == .badData && failure?.message == "No change has the number 4711.")
        }
    }
}
