import ArgumentParser
import Tandem

struct SearchCards: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Search by the shop's name or the owner's, in any script.",
        discussion: """
            All words must be there, each anywhere in a word. Case, accents, width and punctuation do not count: \
            `loreal` finds L'Oréal, `пятероч` finds Пятёрочка.
            """)

    @Argument(help: "The words.")
    var words: [String]

    @Option(help: "How many to list.")
    var limit = 20

    @Flag(help: "Show how the store answers: its SQL, SQLite's plan for it, and which index would help.")
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
