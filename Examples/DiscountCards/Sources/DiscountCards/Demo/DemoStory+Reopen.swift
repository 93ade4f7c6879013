import Tandem

extension DemoStory {
    func reopen(_ wallet: Wallet) throws {
        try chapter(
            "Close and reopen", words: "All objects with their state, and all operations, compared before and after."
        )
        let before = try StoreContents(of: wallet.store)
        wallet.store.close()

        var reopened: Store?
        let duration = try ContinuousClock().measure {
            reopened = try Wallet.openStore(at: path, passphrase: passphrase)
        }
        guard let store = reopened else { return }
        screen.print("  reopened in \(duration.rounded)\n")
        let after = try StoreContents(of: store)
        for (name, count) in after.counts { screen.print("  \(name.padded(toColumns: 12)) \(count.grouped)") }
        screen.print()
        try check(after == before, sentence: "every object and every operation equals what it was.")
        try check(try store.checkIntegrity().isEmpty, sentence: "SQLite reports no errors in the file.")
        store.close()
        screen.print("\n\(screen.paint("All is still there.", in: .good))")
    }
}

/// The complete contents of a store, for a comparison.
struct StoreContents: Equatable {
    let people: [Person]
    let brands: [Brand]
    let cards: [Card]
    let stars: [Star]
    let operations: [PendingOperation]

    init(of store: Store) throws {
        self = try store.read { tx in try StoreContents(tx) }
    }

    private init(_ tx: ReadTransaction) throws {
        people = try tx.objects(Person.self).includingDeleted().all()
        brands = try tx.objects(Brand.self).includingDeleted().all()
        cards = try tx.objects(Card.self).includingDeleted().all()
        stars = try tx.objects(Star.self).includingDeleted().all()
        operations = try tx.operations.all()
    }

    /// The number of objects of each kind, including tombstones.
    var counts: [(name: String, count: Int)] {
        [
            ("people", people.count), ("brands", brands.count), ("cards", cards.count), ("stars", stars.count),
            ("operations", operations.count),
        ]
    }
}
