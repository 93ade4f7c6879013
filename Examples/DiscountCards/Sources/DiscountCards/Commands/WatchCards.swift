import ArgumentParser
import Dispatch
import OpenCombine
import Tandem

struct WatchCards: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show cards as they change, whoever changes them, until Ctrl-C.",
        discussion: """
            Open another terminal and edit: what is new has a +, what has changed a ~, and what is gone is named below. \
            Where the output is no terminal, or with --plain, each change is a line.
            """)

    @Argument(help: "Words of the shop's name; all cards, if not said.")
    var words: [String] = []

    @Option(help: "How many to show.")
    var limit = 20

    @Flag(help: "Print a line for each change, rather than drawing the list anew.")
    var plain = false

    @Option(help: ArgumentHelp("End after so many changes; the first list counts as one.", valueName: "count"))
    var changes: Int?

    @Option(help: ArgumentHelp("End after so many seconds.", valueName: "number"))
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

        // One queue for both, so that they take turns to draw.
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
    /// What `watch` shows: what is kept at hand first, then by the shop's name.
    func watchedCards(matching words: String) -> Results<Card> {
        let cards = store.objects(Card.self).sorted(by: .matchingFirst { $0.isPinned }, .ascending(\.shop))
        return words.isEmpty ? cards : cards.where { $0.shop.matches(words) }
    }
}
