import ArgumentParser
import Foundation
import Tandem
import TandemSync

struct LogIn: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Say who uses this store, and which server it is synced with.",
        discussion: """
            Asks nobody: whether the server knows the token is seen by `cards sync`. A store's data is one person's: \
            another one is refused until it is said what becomes of it.

            This is an example. The token is kept in the store: encrypted if that is, and else in a file that only you \
            can read. An app would leave it to the system's keychain, and use one that expires.
            """)

    /// The variable that does the same as `--token`, and that other users don't see.
    static let variable = "CARDS_TOKEN"

    @Argument(help: "Your name. A person of this name is added if there is none.")
    var name: String

    @Option(help: ArgumentHelp("Where the server is; the last one, if not said.", valueName: "url"))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "What the server knows you by; none for one that asks nobody.",
            discussion: "`ps` shows arguments to everybody: \(LogIn.variable) in the environment does the same unseen.")
    )
    var token: String?

    @Flag(help: "Make somebody else's data yours: what was not sent is sent as yours. Or: the server has moved.")
    var keep = false

    @Flag(help: "Drop the data that is here, with all that was not sent, and fetch everything anew.")
    var purge = false

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard !keep || !purge else { throw ValidationError("--keep or --purge: not both.") }
        guard !name.isEmpty else { throw ValidationError("Everybody has a name.") }
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
                .usage, "No server was named yet.",
                advice: "--server http://127.0.0.1:8080 is the one that `cards serve` starts.")
        }
        let known = last?.name == name && last?.server == server ? last?.token : nil
        let token = token ?? environment[Self.variable] ?? known ?? ""
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure(.usage, "A token is made of visible ASCII characters.")
        }
        let session = Session(name: name, server: server, token: token)
        let context = try CardSync.context(store, session)
        let owner = try await context.owner
        if keep || purge {
            try await context.adopt(purge ? .purge : .keep)
        } else if let owner, owner != name {
            throw Failure(
                .noPermission, "The data in this store is \(owner)'s.",
                advice: "--keep makes it yours, --purge drops it; --store names another one.")
        } else if owner == nil {
            // Theirs from now on, and not only from the first sync.
            try await context.adopt(.keep)
        }
        try store.makePrivate()
        try session.save(in: store)
        // The person is there then, to own cards.
        _ = try Wallet(store, as: nil)
    }
}

extension Store {
    /// Has nobody but the file's owner read it, now that a token stands in it. SQLite makes files beside it alike.
    fileprivate func makePrivate() throws {
        for file in [path, path + "-wal", path + "-shm"] where FileManager.default.fileExists(atPath: file) {
            do {
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            } catch {
                throw Failure(.noPermission, "\(file): nobody else may read it, but that can't be said of it.")
            }
        }
    }
}
