import BigInt
import Foundation
import PageServer
import Tandem
import Testing

@testable import DiscountCards

@Suite struct CardInputTests {
    private func input(shop: String = "Лента", number: String = "4006381333931", points: String = "7") -> CardInput {
        CardInput(shop: shop, number: number, points: points, owner: nil)
    }

    private func fields(_ input: CardInput) -> [String] {
        do {
            _ = try input.checked()
            return []
        } catch let failure as WebFailure {
            return failure.fields.keys.sorted()
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `a valid form is accepted, with any number of points that fits`() throws {
        let checked = try input(number: "4 006381 333931", points: "1,234,567,890,123,456,789,012").checked()
        #expect(checked.number.digits == "4006381333931")
        #expect(checked.points == BigInt("1234567890123456789012"))
    }

    @Test func `each field that is not valid has a message`() {
        #expect(fields(input(shop: "  ")) == ["shop"])
        #expect(fields(input(shop: String(repeating: "x", count: 201))) == ["shop"])
        #expect(fields(input(number: "4006381333932")) == ["number"])
        #expect(fields(input(number: String(repeating: " ", count: 100_000))) == ["number"])
        for points in ["", "-1", "1.5", "0x10", "٣", "1e9", String(repeating: "9", count: 61)] {
            #expect(fields(input(points: points)) == ["points"], "\(points)")
        }
        #expect(fields(input(shop: "", number: "", points: "")) == ["number", "points", "shop"])
    }

    @Test func `pictures are recognized by their bytes, and markup is not a picture`() {
        #expect(PhotoType([0xFF, 0xD8, 0xFF, 0xE0]) == .jpeg)
        #expect(PhotoType(CardPicture.png(of: EAN13(payload: 1))) == .png)
        #expect(PhotoType(Array("GIF89a…".utf8)) == .gif)
        #expect(PhotoType(Array("RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8 ".utf8)) == .webp)
        for text in ["", "<svg xmlns='http://www.w3.org/2000/svg'>", "<html>", "%PDF-1.7", "RIFF", "GIF88a"] {
            #expect(PhotoType(Array(text.utf8)) == nil)
        }
    }

    @Test func `a deleted card returns with its values, star and photo, though it was never sent`() async throws {
        let wallet = WebWallet(
            try Wallet(try Store(inMemoryModels: Wallet.models), as: "Ada"), syncsAutomatically: false)
        let card = try await wallet.save(try input().checked(), as: nil)
        let photo = try wallet.store.attachments.add(Data("picture".utf8), name: "card.png")
        try await wallet.store.write { tx in
            _ = try tx.update(Card.self, localID: card.localID) { $0.photo = photo }
        }
        _ = try await wallet.toggleStar(on: card.localID)
        let shown = try await wallet.card(card.localID)
        let token = try await wallet.deleted.delete(shown, in: wallet.store)
        #expect(try await wallet.store.objects(Card.self).count() == 0)
        let restored = try await wallet.deleted.undo(token, in: wallet.store)
        #expect(restored.localID == card.localID && restored.shop == "Лента" && restored.points == 7)
        #expect(try await wallet.isStarred(restored))
        let kept = try #require(try await wallet.card(card.localID).photo)
        #expect(try wallet.store.attachments.data(of: kept) == Data("picture".utf8))
        let failure = await #expect(throws: WebFailure.self) {
            _ = try await wallet.deleted.undo(token, in: wallet.store)
        }
        #expect(failure?.status == .gone)
    }

    @Test(arguments: ["0190c1a2-0000-7000-8000-000000000000", "a/b?c=%41", "лента 24", "..", "<x>\u{0}"])
    func `an ID of any text is a component of a path`(text: String) {
        let path = CardPath.path(of: LocalID(text))
        #expect(path.split(separator: "/").count == 2 && path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        #expect(CardPath.id(in: path.dropFirst("/cards/".count)) == LocalID(text))
        #expect(WebRoutes.part(path) == .card(LocalID(text)))
    }

    @Test func `only changed properties of an edited card are to be sent`() async throws {
        let wallet = WebWallet(
            try Wallet(try Store(inMemoryModels: Wallet.models), as: "Ada"), syncsAutomatically: false)
        let card = try await wallet.save(try input().checked(), as: nil)
        let other = try await wallet.save(try input(number: "5901234123457").checked(), as: nil)
        let saved = try await wallet.save(try input(points: "8").checked(), as: card.localID)
        #expect(saved.points == 8 && saved.owner == card.owner)
        let failure = await #expect(throws: WebFailure.self) {
            _ = try await wallet.save(try input().checked(), as: other.localID)
        }
        #expect(failure?.fields.keys.sorted() == ["number"])
    }

    @Test func `a field that the person did not change keeps a newer value`() async throws {
        let wallet = WebWallet(
            try Wallet(try Store(inMemoryModels: Wallet.models), as: "Ada"), syncsAutomatically: false)
        let card = try await wallet.save(try input().checked(), as: nil)
        // Another device changes the shop while the form is open.
        _ = try await wallet.store.write { tx in
            try tx.update(Card.self, localID: card.localID) { $0.shop = "Лента 24" }
        }
        var form = input(points: "8")
        form.changed = ["points"]
        let saved = try await wallet.save(try form.checked(), as: card.localID)
        #expect(saved.shop == "Лента 24" && saved.points == 8)
        form.changed = nil
        #expect(try await wallet.save(try form.checked(), as: card.localID).shop == "Лента")
    }

    @Test func `the form of a card without an owner gives it none`() async throws {
        let wallet = WebWallet(
            try Wallet(try Store(inMemoryModels: Wallet.models), as: "Ada"), syncsAutomatically: false)
        let card = try await wallet.store.write { tx in
            try tx.insert(Card(shop: "Лента", barcode: "4006381333931", points: 7))
        }
        let form = try await CardForm(card, in: wallet)
        #expect(form.isUnowned && form.owners.map(\.name) == ["Ada"] && !form.owners.contains { $0.isChosen })
        var edited = input(points: "8")
        edited.owner = ""
        #expect(try await wallet.save(try edited.checked(), as: card.localID).owner == nil)
        let new = try await CardForm(nil, in: wallet)
        #expect(!new.isUnowned && new.owners.map(\.isChosen) == [true])
    }

    @Test func `the form has the card's owner, however many people there are`() async throws {
        let wallet = WebWallet(
            try Wallet(try Store(inMemoryModels: Wallet.models), as: "Ada"), syncsAutomatically: false)
        let card = try await wallet.store.write { tx in
            for number in 0..<CardForm.mostOwners { _ = try tx.insert(Person(name: "B\(number)")) }
            let last = try tx.insert(Person(name: "Яна"))
            return try tx.insert(Card(shop: "Лента", barcode: "4006381333931", owner: last.reference))
        }
        let form = try await CardForm(card, in: wallet)
        #expect(form.owners.filter(\.isChosen).map(\.name) == ["Яна"])
    }
}
