import ArgumentParser
import Foundation
import Tandem
import TandemSync

struct LogIn: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Set the user of this store and its server.",
        discussion: """
            This command sends no request: `cards sync` checks the token. A store's data belongs to one person: \
            another name needs --keep or --purge.

            This is an example. The token is in the store, which is encrypted or a file that only you \
            can read. An app would use the system's keychain, and tokens that expire.
            """)

    /// The environment variable that replaces `--token`. Other users can't see it.
    static let variable = "CARDS_TOKEN"

    @Argument(help: "Your name. A person with this name is added if missing.")
    var name: String

    @Option(
        help: ArgumentHelp(
            "The address of a Datasync server, or of a bucket of a Kinto server. Default: the previous one.",
            discussion: "For example http://127.0.0.1:8080 or http://127.0.0.1:8888/v1/buckets/cards.",
            valueName: "url"))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "Your token, if the server requires one: for Kinto, account:password.",
            discussion: "`ps` shows arguments to all users. The variable \(LogIn.variable) is not visible to them.")
    )
    var token: String?

    @Flag(help: "Take over another person's data: unsent changes are sent as yours. Or: the server has moved.")
    var keep = false

    @Flag(help: "Drop the local data with all unsent changes, and fetch everything again.")
    var purge = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard !keep || !purge else { throw ValidationError("--keep and --purge exclude each other.") }
        guard !name.isEmpty else { throw ValidationError("The name must not be empty.") }
    }

    func run() async throws {
        let store = try options.openStore(creating: true)
        try await logIn(to: store, environment: ProcessInfo.processInfo.environment)
        let line = "Logged in: \(name.printable), at \(try Session.current(in: store)?.server.printable ?? "–")."
        Screen.output.print(line + " `cards sync` exchanges the cards.")
    }

    func logIn(to store: Store, environment: [String: String]) async throws {
        let choice: SyncContext.AdoptChoice? = keep ? .keep : purge ? .purge : nil
        try await CardLogin(name: name, server: server, token: token ?? environment[Self.variable], choice: choice)
            .run(in: store)
    }
}
