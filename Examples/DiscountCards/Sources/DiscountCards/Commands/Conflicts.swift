import ArgumentParser
import Tandem
import TandemSync

struct Conflicts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts", abstract: "Show the changes that wait for you, and decide about one.",
        discussion: "A change that the server refused may also be mended with `cards edit`: it is then sent again.")

    enum Choice: String, EnumerableFlag {
        case mine, theirs, discard, retry, hold

        static func help(for value: Self) -> ArgumentHelp? {
            switch value {
            case .mine: "Send what is here over what the server holds."
            case .theirs: "Take what the server holds. It may have to be asked."
            case .discard: "Give the change up: a new object goes, a changed one is as it was, a deleted one is back."
            case .retry: "Send it again as it is."
            case .hold: "Leave it unsent until it is retried."
            }
        }
    }

    @Argument(help: "The change to decide about, by its number in the queue.")
    var id: Int64?

    @Flag(exclusivity: .exclusive, help: "What to do about it.")
    var choice: Choice?

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard (id == nil) == (choice == nil) else {
            throw ValidationError(
                "To decide, name a change and say one of --mine, --theirs, --discard, --retry, --hold.")
        }
    }

    func run() async throws {
        let sync = try CardSync(options.openStore())
        if let id, let choice {
            Screen.output.print(try await sync.decide(id, choice))
        } else {
            try await sync.printConflicts(on: .output)
        }
    }
}

extension CardSync {
    /// Prints what waits for the user: what, and why.
    func printConflicts(on screen: Screen) async throws {
        let failed = try await context.failedOperations()
        let held = try heldOperations()
        guard !failed.isEmpty || !held.isEmpty else { return screen.print("Nothing waits for you.") }
        for error in failed {
            try printOperation(error.operation, on: screen)
            screen.print("      " + screen.paint(error.message.printable, .bad))
            let choices = error.isConflict ? "--mine, --theirs" : "`cards edit` to mend it, --retry"
            screen.print("      " + screen.paint("\(choices), --discard or --hold", .faint))
        }
        for operation in held {
            try printOperation(operation, on: screen)
            screen.print("      " + screen.paint("Held back. --retry sends it, --discard gives it up.", .faint))
        }
    }

    private func heldOperations() throws -> [Tandem.Operation] { try wallet.store.operations.all(in: .held) }

    private func printOperation(_ operation: Tandem.Operation, on screen: Screen) throws {
        let title = try wallet.title(of: operation.model, operation.localID)
        screen.print("  \(screen.paint("\(operation.id)", .strong))  \(operation.kind) of the \(title.printable)")
    }

    /// Does what the user has chosen.
    ///
    /// - Returns: What that means, in a sentence.
    func decide(_ id: Tandem.Operation.ID, _ choice: Conflicts.Choice) async throws -> String {
        do {
            let shown = try wallet.store.operations.all().first { $0.id == id }?.version
            guard let shown else { throw TandemError(.staleOperation, "No change has the number \(id).") }
            switch choice {
            case .mine:
                try await context.keepMine(shown)
                return "Yours is sent by the next `cards sync`."
            case .theirs:
                return Self.sentence("It is what the server holds.", lost: try await context.takeServers(shown))
            case .discard: return Self.sentence("The change is given up.", lost: try await context.discard(shown))
            case .retry:
                try await context.retry(shown)
                return "It is sent again by the next `cards sync`."
            case .hold:
                try await context.hold(id)
                return "It stays unsent until `cards conflicts \(id) --retry`."
            }
        } catch TandemError.Code.staleOperation {
            throw Failure(
                .badData, "No change has the number \(id).", advice: "`cards conflicts` shows those there are.")
        } catch let error as SyncError {
            throw Failure(error, session)
        }
    }

    private static func sentence(_ words: String, lost: [String: StorageValue]) -> String {
        lost.isEmpty ? words : "\(words) Not sent: \(lost.keys.sorted().joined(separator: ", "))."
    }
}
