import ArgumentParser
import Foundation
import Tandem

struct PhotoCard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "photo", abstract: "Photograph a card, show where its photograph is, or remove it.")

    @Argument(help: "The card: its number, its local ID, or words of the shop's name.")
    var card: String

    @Flag(help: "Take a photograph. In place of a camera, a picture of the card's bar code is generated.")
    var take = false

    @Option(help: "A file for the card's photograph.", completion: .file())
    var file: String?

    @Option(help: "Copy the photograph to a file.", completion: .file())
    var save: String?

    @Flag(help: "Remove the photograph.")
    var remove = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard [take, file != nil, remove].count(where: \.self) <= 1 else {
            throw ValidationError("--take, --file and --remove exclude each other.")
        }
        guard save == nil || !remove else { throw ValidationError("--save and --remove exclude each other.") }
    }

    func run() async throws {
        let wallet = try options.openWallet()
        let card = try edited(wallet.card(card), in: wallet)
        if let save { try await wallet.savePhoto(of: card, to: save) }
        try wallet.printPhoto(of: card, on: .output)
    }

    /// Returns the card with its new photograph, or without its old one.
    private func edited(_ card: Card, in wallet: Wallet) throws -> Card {
        if take || file != nil { return try wallet.photograph(card, from: file) }
        guard remove else { return card }
        return try wallet.store.write { tx in try tx.update(Card.self, localID: card.localID) { $0.photo = nil } }
    }
}

extension Wallet {
    /// Gives a card a photograph from a file, or a generated one.
    func photograph(_ card: Card, from file: String?) throws -> Card {
        let photo =
            if let file {
                try store.attachments.add(contentsOf: file)
            } else {
                try store.attachments.add(
                    Data(CardPicture.png(of: EAN13.checked(card.barcode))), name: "\(card.shop).png")
            }
        return try store.write { tx in try tx.update(Card.self, localID: card.localID) { $0.photo = photo } }
    }

    /// Copies a card's photograph to a file. Downloads it first if it is not on this device.
    func savePhoto(of card: Card, to path: String) async throws {
        guard let photo = card.photo else {
            throw Failure(
                .badData, message: "\(card.shop) has no photograph.", advice: "Take one with `cards photo … --take`.")
        }
        if try !store.attachments.status(of: photo).isOnDevice {
            try await CardSync(store).context.download(photo)
        }
        try store.attachments.export(photo, to: path)
    }

    /// Prints the name, size and locations of a card's photograph.
    func printPhoto(of card: Card, on screen: Screen) throws {
        guard let photo = card.photo else { return screen.print("\(card.shop.printable): no photograph") }
        let size = photo.size.map { ", \(Int($0).of("byte"))" } ?? ""
        screen.print("\(card.shop.printable): \(photo.name.printable)\(size)")
        for line in try PhotoLocation(of: photo, in: store).lines { screen.print("  \(line.printable)") }
    }
}
