import ArgumentParser

struct SyncCards: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Exchange changes with the server.",
        discussion: """
            Fetches the server's changes, then sends the local ones. Changes of different properties are \
            merged. A conflict in one property, or a change that the server refuses, waits for \
            `cards conflicts`.

            Exits with 0 if all changes were exchanged, 65 if a decision is needed, 75 if the server can't be reached, \
            and 77 if it does not accept your token.
            """)

    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await CardSync(options.openStore()).run(on: .output)
    }
}
