import ArgumentParser
import Tandem

struct ListCards: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the cards, your favourites first.")

    enum Order: String, ExpressibleByArgument, CaseIterable {
        case shop
        case points
    }

    @Option(help: "The order after the favourites.")
    var sort = Order.shop

    @Option(help: "The maximum number of cards.")
    var limit = 20

    @Flag(help: "List only your favourites.")
    var starred = false

    @Flag(help: "List only your cards.")
    var mine = false

    @Flag(help: "List only pinned cards.")
    var pinned = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() throws {
        let wallet = try options.openWallet()
        let person = wallet.person
        var cards = wallet.cards
        if sort == .points {
            cards = cards.sorted(by: .matchingFirst { $0.stars.any { $0.person == person } }, .descending(\.points))
        }
        if starred { cards = cards.where { $0.stars.any { $0.person == person } } }
        if mine { cards = cards.where { $0.owner == person } }
        if pinned { cards = cards.where { $0.isPinned } }
        try wallet.printCards(cards, limit: limit, on: .output)
    }
}
