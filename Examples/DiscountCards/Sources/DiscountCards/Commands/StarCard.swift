import ArgumentParser

struct StarCard: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "star", abstract: "Add or remove your star on a card. Other people's stars stay.")

    @Argument(help: "The card: its number, its local ID, or words of the shop's name.")
    var card: String

    @OptionGroup var options: StoreOptions

    func run() throws {
        let wallet = try options.openWallet()
        let card = try wallet.card(card)
        let isStarred = try wallet.toggleStar(on: card)
        let screen = Screen.output
        let mark = screen.paint(isStarred ? "★" : "☆", in: .star)
        screen.print("\(mark) \(card.shop.printable), by \(wallet.person.name.printable)")
    }
}
