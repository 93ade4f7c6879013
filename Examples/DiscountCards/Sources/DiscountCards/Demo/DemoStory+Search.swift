import Tandem

extension DemoStory {
    func search(_ wallet: Wallet) throws {
        try chapter(
            "Search", words: "By the shop's name or the owner's, in any script. The time includes reading all results.")
        var table = Table(
            .init(title: "Typed"), .init(title: "Cards", isNumber: true), .init(title: "Time", isNumber: true),
            .init(title: "Found", isFlexible: true), .init(title: "", isFlexible: true))
        for search in source.searches {
            var found: [Card] = []
            let duration = try ContinuousClock().measure {
                found = try wallet.cards(matching: search.words).all()
            }
            var names: [String] = []
            for card in found where !names.contains(card.shop) && names.count < 2 { names.append(card.shop) }
            table.append(
                .init(search.words, colour: .strong), .init(found.count.grouped), .init(duration.rounded),
                .init(names.joined(separator: ", ")), .init(search.note, colour: .faint))
        }
        table.print(on: screen)
    }

    func sort(_ wallet: Wallet) throws {
        try chapter("Sort", words: "By the name, as people read it: lower and upper case together, and ё beside е.")
        for sample in source.sortSamples {
            let names = try wallet.store.objects(Card.self)
                .where(sample.predicate)
                .sorted(by: \.shop)
                .distinct(by: \.shop)
                .values(of: \.shop)
            screen.print("  \(screen.paint(sample.title, in: .faint))")
            for name in names { screen.print("    \(name.printable)") }
        }
    }

    func star(_ wallet: Wallet) throws {
        let other = try Wallet(wallet.store, as: Family.names[1])
        try chapter(
            "Favourites first",
            words:
                "A star is a separate object, because favourites differ between people: first as \(wallet.person.name) "
                + "sees the cards, then as \(other.person.name) does.")
        let cards = try wallet.store.objects(Card.self).sorted(by: \.shop).all()
        let last = cards.suffix(2)
        for card in last { try wallet.toggleStar(on: card) }
        if let middle = cards.dropFirst(cards.count / 2).first { try other.toggleStar(on: middle) }
        for person in [wallet, other] {
            try person.printCards(person.cards, limit: 4, on: screen)
            screen.print()
        }
        let first = try wallet.cards.limit(2).localIDs()
        try check(Set(first) == Set(last.map(\.localID)), sentence: "favourites come first, for each person their own.")
    }
}
