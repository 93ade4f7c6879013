import ArgumentParser
import BigInt
import Tandem

struct AddCard: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a card.")

    @Argument(help: "The shop's name, as it stands on the card.")
    var shop: String

    @Argument(help: "The number under the bar code: an EAN-13.")
    var number: String

    @Option(help: "The points on it.", transform: BigInt.checked)
    var points: BigInt = 0

    @Option(help: "Whose card it is; a new person is added. Who is signed in, if not said.")
    var owner: String?

    @Option(help: "The shop's brand; a new one is added. The one that is called like the shop, if not said.")
    var brand: String?

    @Flag(help: "Keep it at hand on this device.")
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
    /// A number that a person typed.
    static func checked(_ text: String) throws -> EAN13 {
        guard let number = EAN13(text) else {
            throw Failure(
                .badData, "“\(text)” is no EAN-13.",
                advice: "It has thirteen digits, the last of which checks the others.")
        }
        return number
    }
}

extension BigInt {
    /// A whole number of any size that a person typed.
    static func checked(_ text: String) throws -> BigInt {
        guard let number = BigInt(text) else { throw ValidationError("“\(text)” is no whole number.") }
        return number
    }
}
