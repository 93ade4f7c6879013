import ArgumentParser

struct SyncCards: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Exchange what changed with the server.",
        discussion: """
            Fetches what others have changed, then sends what was changed here. Changes of different properties are put \
            together. Where somebody else has changed the same one, or the server refuses a change, it waits for \
            `cards conflicts`.

            Ends with 0 if both sides are in step, 65 if something waits for you, 75 if the server can't be reached, and \
            77 if it does not know you.
            """)

    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await CardSync(options.openStore()).run(on: .output)
    }
}
