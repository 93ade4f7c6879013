import Tandem

/// The first act of `cards demo`, without a server: from an empty store to a reopened one.
struct DemoStory {
    let source: DemoSource
    let path: String
    /// The passphrase of the main store and of the second act's stores; `nil` for plain ones.
    let passphrase: String?
    let isKept: Bool
    let screen = Screen.output

    func run() throws {
        screen.print(
            screen.paint("Discount cards", in: .heading)
                + ": Tandem's example app, with no network at all; then with a server")
        let kind = passphrase == nil ? "store" : "encrypted store"
        screen.print(
            screen.paint("\(source.origin)\n\(kind): \(path)\(isKept ? "" : " (removed at the end)")", in: .faint))

        let store = try Wallet.openStore(at: path, passphrase: passphrase)
        let wallet = try Wallet(store, as: Family.names[0])
        try importBrands(wallet)
        try search(wallet)
        try sort(wallet)
        try star(wallet)
        try editOffline(wallet)
        try editWhatTheServerKnows(wallet)
        try showQueue(wallet)
        try photograph(wallet)
        try watchOthers()
        try encrypt(wallet)
        try reopen(wallet)

        guard isKept else { return }
        screen.print("\nThe store is kept. Try: cards list --store \(path)\(passphrase == nil ? "" : " --key …")")
    }

    /// Begins a chapter.
    func chapter(_ title: String, words: String) throws {
        try Interrupt.check()
        screen.print("\n" + screen.paint(title, in: .heading))
        screen.print(screen.paint(words.wrapped(toColumns: min(screen.columns ?? 100, 100)), in: .faint) + "\n")
    }

    /// Prints a successful check, or ends the demo.
    func check(_ holds: Bool, sentence: String) throws {
        guard holds else { throw Failure(.software, message: "A check of the demo failed: \(sentence)") }
        screen.print("  \(screen.paint("✓", in: .good)) \(sentence)")
    }
}
