import ArgumentParser
import Dispatch
import OpenCombine
import Tandem

struct WatchCards: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show cards as any process changes them, until Ctrl-C.",
        discussion: """
            Edit in another terminal: new cards have a +, changed ones a ~, and removed ones are listed below. \
            If the output is not a terminal, or with --plain, each change is one line.
            """)

    @Argument(help: "Words of the shop's name. Default: all cards.")
    var words: [String] = []

    @Option(help: "The maximum number of cards.")
    var limit = 20

    @Flag(help: "Print a line for each change instead of redrawing the list.")
    var plain = false

    @Option(help: ArgumentHelp("End after this number of changes. The first list counts as one.", valueName: "count"))
    var changes: Int?

    @Option(help: ArgumentHelp("End after this number of seconds.", valueName: "number"))
    var seconds: Double?

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more.") }
        guard changes ?? 1 > 0 else { throw ValidationError("--changes must be 1 or more.") }
        guard seconds ?? 1 > 0 else { throw ValidationError("--seconds must be more than 0.") }
    }

    func run() throws {
        let wallet = try options.openWallet()
        let words = words.joined(separator: " ")
        let cards = wallet.watchedCards(matching: words)
        let bell = try Bell()
        let watch = CardWatch(
            wallet, words: words, limit: changes, isPlain: plain || !Screen.output.isTerminal, on: .output, bell: bell)

        // A shared queue for both subscriptions, so that they draw one after another.
        let queue = DispatchQueue(label: "cards.watch")
        let list = cards.limit(limit).changesetPublisher.on(.queue(queue)).sink(
            receiveCompletion: { @Sendable in watch.end($0) }, receiveValue: { @Sendable in watch.show($0) })
        let total = cards.countPublisher.on(.queue(queue)).sink(
            receiveCompletion: { @Sendable in watch.end($0) }, receiveValue: { @Sendable in watch.show(total: $0) })
        Interrupt.ringing(bell) { bell.wait(seconds: seconds, whileReading: .output) }
        list.cancel()
        total.cancel()
        try watch.finish()
    }
}

extension Wallet {
    /// Returns the cards that `watch` shows: pinned ones first, then by the shop's name.
    func watchedCards(matching words: String) -> Results<Card> {
        let cards = store.objects(Card.self).sorted(by: .matchingFirst { $0.isPinned }, .ascending(\.shop))
        return words.isEmpty ? cards : cards.where { $0.shop.matches(words) }
    }
}
