import ArgumentParser

struct DeleteCard: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete a card, and the stars on it.")

    @Argument(help: "The card: its number, its local ID, or words of the shop's name.")
    var card: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let wallet = try options.openWallet()
        let card = try wallet.card(card)
        try wallet.store.write { try $0.delete(card) }
        Screen.output.print("Deleted \(card.shop.printable) (\(card.barcode)).")
    }
}
