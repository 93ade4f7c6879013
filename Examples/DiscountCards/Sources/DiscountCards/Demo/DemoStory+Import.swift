import Tandem

extension DemoStory {
    func importBrands(_ wallet: Wallet) throws {
        try chapter(
            "Import",
            "One transaction: cards, brands, their search index, and an operation for each object, to be sent. Points "
                + "are whole numbers of any size; their sums are exact.")
        let (summary, duration) = try wallet.importCards(source.entries, dealingToFamily: true)
        let rate = ProgressBar.rate(summary.cards, duration)
        screen.print(
            "  \(screen.paint(summary.cards.of("card"), .good)) and \(summary.brands.of("brand"))"
                + " in \(duration.rounded) (\(rate))\n")
        try wallet.printStats(on: screen)
    }
}
