import ArgumentParser
import Tandem

struct ImportCards: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import a file of brands: one card for each line.",
        discussion: """
            The file is tab-separated UTF-8 text with a header line: name, and optionally category, regions and \
            wikidata. If a line can't be read, nothing is imported. A repeated import adds only new lines.
            """)

    @Argument(help: "The file.")
    var file: String

    @Flag(help: "Distribute the cards to a family, not to the person signed in.")
    var family = false

    @OptionGroup var options: StoreOptions

    func run() throws {
        let entries = try BrandFile.read(file)
        let wallet = try options.openWallet(creating: true)
        let (summary, duration) = try wallet.importCards(entries, dealingToFamily: family)
        let screen = Screen.output
        screen.print(
            "Imported \(screen.paint(summary.cards.of("card"), in: .good)) and \(summary.brands.of("brand"))"
                + " in \(duration.rounded) (\(ProgressBar.rate(entries.count, in: duration)))."
                + (summary.known > 0 ? " \(summary.known.of("card")) existed before." : ""))
    }
}

extension Wallet {
    /// Imports a list in one write, with a progress bar. Ctrl-C rolls the import back.
    func importCards(
        _ entries: [BrandEntry], dealingToFamily: Bool
    ) throws -> (summary: Importer.Summary, duration: Duration) {
        var bar = ProgressBar("Importing", total: entries.count)
        defer { bar.remove() }
        let summary = try Interrupt.guarded {
            try store.write { tx in
                let owners = dealingToFamily ? try Family.join(tx) : [person]
                return try Importer.run(entries, owners: owners, in: tx) { count in
                    try Interrupt.check(outcome: "Nothing was imported.")
                    bar.advance(to: count)
                }
            }
        }
        return (summary, bar.elapsed)
    }
}
