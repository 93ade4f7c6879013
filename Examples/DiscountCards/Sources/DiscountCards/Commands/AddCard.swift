import ArgumentParser
import BigInt
import Tandem

struct AddCard: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a card.")

    @Argument(help: "The shop's name, as printed on the card.")
    var shop: String

    @Argument(help: "The number under the bar code: an EAN-13.")
    var number: String

    @Option(help: "The card's points.", transform: BigInt.checked)
    var points: BigInt = 0

    @Option(help: "The owner, added if new. Default: the person signed in.")
    var owner: String?

    @Option(help: "The shop's brand, added if new. Default: the brand with the shop's name.")
    var brand: String?

    @Flag(help: "Pin the card on this device.")
    var pin = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        let number = try EAN13.checked(number)
        let wallet = try options.openWallet(creating: true)
        let card = try wallet.refusingSecond(number) {
            try wallet.store.write { tx in
                let holder = try owner.map { try Person.named($0, in: tx) } ?? wallet.person
                let brand =
                    try brand.map { try Brand.named($0, in: tx) }
                    ?? tx.objects(Brand.self).where { $0.name == shop }.first()
                return try tx.insert(
                    Card(
                        shop: shop, barcode: number.digits, points: points, isPinned: pin, owner: holder.reference,
                        brand: brand?.reference))
            }
        }
        try wallet.printCard(card, on: .output)
    }
}

extension EAN13 {
    /// Parses a typed number.
    static func checked(_ text: String) throws -> EAN13 {
        guard let number = EAN13(text) else {
            throw Failure(
                .badData, message: "“\(text)” is not a valid EAN-13.",
                advice: "It must have thirteen digits. The last one is the check digit.")
        }
        return number
    }
}

extension BigInt {
    /// Parses a typed whole number of any size.
    static func checked(_ text: String) throws -> BigInt {
        guard let number = BigInt(text) else { throw ValidationError("“\(text)” is not a whole number.") }
        return number
    }
}
