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

    @Flag(help: "Keep it at hand on this device.")
    var pin = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        let number = try EAN13.checked(number)
        let wallet = try options.openWallet(creating: true)
        let card = try wallet.refusingSecond(number) {
            try wallet.store.write { tx in
                let holder = try owner.map { try person(named: $0, tx) } ?? wallet.person
                return try tx.insert(
                    Card(
                        shop: shop, barcode: number.digits, points: points, isPinned: pin, owner: holder.reference,
                        brand: tx.objects(Brand.self).where { $0.name == shop }.first()?.reference))
            }
        }
        try wallet.printCard(card, on: .output)
    }

    private func person(named name: String, _ tx: WriteTransaction) throws -> Person {
        try tx.objects(Person.self).where { $0.name == name }.first() ?? tx.insert(Person(name: name))
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
