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
        let last = try Session.current(in: store)
        guard let server = server ?? last?.server else {
            throw Failure(
                .usage, "No server is set yet.",
                advice: "--server http://127.0.0.1:8080 is the one that `cards serve` starts.")
        }
        let known = last?.name == name && last?.server == server ? last?.token : nil
        let token = token ?? environment[Self.variable] ?? known ?? ""
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure(.usage, "A token must consist of visible ASCII characters.")
        }
        let session = Session(name: name, server: server, token: token)
        let context = try CardSync.context(store, session)
        let owner = try await context.owner
        if keep || purge {
            try await context.adopt(purge ? .purge : .keep)
        } else if let owner, owner != name {
            throw Failure(
                .noPermission, "The data in this store is \(owner)'s.",
                advice: "--keep takes it over, --purge drops it; --store selects another store.")
        } else if owner == nil {
            // The data belongs to this person from now on, not only from the first sync.
            try await context.adopt(.keep)
        }
        try store.makePrivate()
        try session.save(in: store)
        // Adds the person, who can then own cards.
        _ = try Wallet(store, as: nil)
    }
}

extension Store {
    /// Makes the file readable only for its owner, since it contains a token. SQLite copies the mode to the files
    /// beside it.
    fileprivate func makePrivate() throws {
        for file in [path, path + "-wal", path + "-shm"] where FileManager.default.fileExists(atPath: file) {
            do {
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            } catch {
                throw Failure(.noPermission, "\(file): its permissions can't be restricted to its owner.")
            }
        }
    }
}
