import ArgumentParser
import BigInt
import Tandem

struct EditCard: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "edit", abstract: "Change a card.")

    @Argument(help: "The card: its number, its local ID, or words of the shop's name.")
    var card: String

    @Option(help: "The shop's new name.")
    var shop: String?

    @Option(help: "The new number: an EAN-13.")
    var number: String?

    @Option(help: "The new number of points.", transform: BigInt.checked)
    var points: BigInt?

    @Option(help: "Points to add.", transform: BigInt.checked)
    var addPoints: BigInt?

    @Option(help: "The new owner.")
    var owner: String?

    @Flag(inversion: .prefixedNo, help: "Whether to pin the card on this device.")
    var pin: Bool?

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard shop != nil || number != nil || points != nil || addPoints != nil || owner != nil || pin != nil else {
            throw ValidationError("Give at least one of --shop, --number, --points, --add-points, --owner and --pin.")
        }
    }

    func run() throws {
        let number = try number.map(EAN13.checked)
        let wallet = try options.openWallet()
        let owner = try owner.map { try Wallet.person(named: $0, in: wallet.store) }
        let card = try wallet.card(card)
        let edited = try wallet.refusingSecond(number) {
            try wallet.store.write { tx in
                try tx.update(Card.self, localID: card.localID) { card in
                    if let shop { card.shop = shop }
                    if let number { card.barcode = number.digits }
                    if let points { card.points = points }
                    if let addPoints { card.points += addPoints }
                    if let owner { card.owner = owner.reference }
                    if let pin { card.isPinned = pin }
                }
            }
        }
        try wallet.printCard(edited, on: .output)
    }
}
