import Tandem

extension DemoStory {
    func importBrands(_ wallet: Wallet) throws {
        try chapter(
            "Import",
            words:
                "A single transaction with cards, brands, their search index, and a pending operation for each object. "
                + "Points are whole numbers of any size, with exact sums.")
        let (summary, duration) = try wallet.importCards(source.entries, dealingToFamily: true)
        let rate = ProgressBar.rate(summary.cards, in: duration)
        screen.print(
            "  \(screen.paint(summary.cards.of("card"), in: .good)) and \(summary.brands.of("brand"))"
                + " in \(duration.rounded) (\(rate))\n")
        try wallet.printStats(on: screen)
    }
}
