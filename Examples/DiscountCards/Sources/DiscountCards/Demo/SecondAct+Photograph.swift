import Crypto
import Foundation
import Tandem

extension SecondAct {
    func photograph(_ server: any DemoServer) async throws {
        try story.chapter(
            "A photograph",
            words:
                "Taken offline, it is visible at once. It is uploaded after its card, and then the card's update with "
                + "its URL follows. The other device gets the card, and downloads the picture when its user wants to "
                + "see it.")
        let (shop, number) = ("Цветы у метро", Self.number(5))
        let picture = Data(CardPicture.png(of: try EAN13.checked(number)))
        let digest = FileDigest(SHA256.hash(data: picture))?.hex
        try await server.close()
        try await show("add", shop, number, on: phone, isQuiet: true)
        try await show("photo", number, "--take", on: phone)
        try await show("sync", on: phone, ends: .tryAgain)
        try await server.reopen()
        try await show("sync", on: phone)
        let uploaded = try await server.photographs()
        try await show("photo", number, on: phone)
        try await show("sync", on: tablet)
        let before = try await show("photo", number, on: tablet)
        try await show("photo", number, "--save", "photo.png", on: tablet)
        let saved = try Data(contentsOf: tablet.folder.appendingPathComponent("photo.png"))
        try check(
            (uploaded == [digest], "the server has the photograph once, with its original digest."),
            (
                before.contains { $0.contains("not on this device") } && saved == picture,
                "the tablet fetched it when it was asked for, byte for byte."
            ))
        story.screen.print()
        try await show("delete", number, on: tablet, isQuiet: true)
        try await show("sync", on: tablet)
        try await show("sync", on: phone)
        let left = try await server.photographs()
        let folders = [phone, tablet].map { URL(fileURLWithPath: $0.path + "-files") }
        let files = try folders.flatMap { try DemoStory.files(in: $0) }
        try check(
            (left.isEmpty && files.isEmpty, "with the card the photograph is gone: from the server and both devices."))
    }
}
