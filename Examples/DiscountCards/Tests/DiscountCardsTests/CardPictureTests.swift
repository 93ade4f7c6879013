import Foundation
import Tandem
import Testing

@testable import DiscountCards

@Suite struct CardPictureTests {
    /// The example in the standard's own figures: 4 006381 333931.
    @Test func `a number's bars equal those of the standard`() throws {
        let number = try #require(EAN13("4006381333931"))
        let bars = number.modules.map { $0 ? "1" : "0" }.joined()
        #expect(
            bars
                == "101" + "0001101" + "0100111" + "0101111" + "0111101" + "0001001" + "0110011"
                + "01010" + "1000010" + "1000010" + "1000010" + "1110100" + "1000010" + "1100110" + "101")
    }

    @Test func `equal cards have equal pictures, and different cards different ones`() {
        let (first, second) = (EAN13(payload: 1), EAN13(payload: 2))
        #expect(CardPicture.png(of: first) == CardPicture.png(of: first))
        #expect(CardPicture.png(of: first) != CardPicture.png(of: second))
    }

    /// 1 × 2 pixels: byte for byte the output of Python's zlib at level 0, in the same chunks.
    @Test func `a picture is a PNG with correct checksums`() {
        let png = PNGFile(width: 1, height: 2, pixels: [255, 0, 0, 0, 0, 255])
        let expected =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAACCAIAAAAW4yFwAAAAE0lEQVR4AQEIAPf/AP8AAAAAAP8IAAH/8OKM3gAAAABJRU5ErkJggg=="
        #expect(Data(png.bytes).base64EncodedString() == expected)
    }

    @Test func `a photograph is stored, saved and replaced`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("cards-photo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let wallet = try Wallet(Store(inMemoryModels: Wallet.models), as: "Ada")
        let plain = try await wallet.store.write { tx in
            try tx.insert(Card(shop: "Чайная «Самовар»", barcode: EAN13(payload: 7).digits))
        }
        await #expect(throws: Failure.self) { try await wallet.savePhoto(of: plain, to: folder.path + "/none.png") }
        let card = try wallet.photograph(plain, from: nil)
        let saved = folder.appendingPathComponent("saved.png")
        try await wallet.savePhoto(of: card, to: saved.path)
        #expect(try Data(contentsOf: saved) == Data(CardPicture.png(of: EAN13(payload: 7))))
        #expect(card.photo?.name == "Чайная «Самовар».png" && card.photo?.contentType == "image/png")

        let photo = try #require(card.photo)
        #expect(
            try PhotoLocation(of: photo, in: wallet.store).lines.last
                == "not on the server yet: it waits to be uploaded")
        let again = try wallet.photograph(card, from: saved.path)
        #expect(again.photo?.name == "saved.png" && again.photo?.sha256 == photo.sha256)
        #expect(throws: TandemError.self) { try wallet.store.attachments.data(of: photo) }
    }
}
