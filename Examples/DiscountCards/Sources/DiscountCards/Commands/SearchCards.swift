import ArgumentParser
import Tandem

struct SearchCards: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Search by the shop's name or the owner's, in any script.",
        discussion: """
            All words must occur, each anywhere in a word. Case, accents, width and punctuation are ignored: \
            `loreal` finds L'Oréal, `пятероч` finds Пятёрочка.
            """)

    @Argument(help: "The words.")
    var words: [String]

    @Option(help: "The maximum number of cards.")
    var limit = 20

    @Flag(help: "Show the SQL of the search, SQLite's query plan, and missing indexes.")
    var explain = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() throws {
        let wallet = try options.openWallet()
        let found = wallet.cards(matching: words.joined(separator: " "))
        if explain { return Screen.output.print("\(try found.explain())") }
        try wallet.printCards(found, limit: limit, on: .output)
    }
}
