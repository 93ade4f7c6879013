import ArgumentParser
import Tandem
import TandemSync

struct Conflicts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts", abstract: "Show the changes that need a decision, or decide about one.",
        discussion: "To correct a refused change, use `cards edit`. It is then sent again.")

    enum Choice: String, EnumerableFlag {
        case mine, theirs, discard, retry, hold

        static func help(for value: Self) -> ArgumentHelp? {
            switch value {
            case .mine: "Overwrite the server's values with yours."
            case .theirs: "Take the server's values. This may need a request."
            case .discard: "Undo the change: remove a new object, restore a changed or deleted one."
            case .retry: "Send the change again."
            case .hold: "Do not send the change until it is retried."
            }
        }
    }

    @Argument(help: "The number of a change in the queue.")
    var id: Int64?

    @Flag(exclusivity: .exclusive, help: "The decision.")
    var choice: Choice?

    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard (id == nil) == (choice == nil) else {
            throw ValidationError(
                "To decide, give the number of a change and one of --mine, --theirs, --discard, --retry, --hold.")
        }
    }

    func run() async throws {
        let sync = try CardSync(options.openStore())
        if let id, let choice {
            Screen.output.print(try await sync.decide(id, choice: choice))
        } else {
            try await sync.printConflicts(on: .output)
        }
    }
}

extension CardSync {
    /// Prints the changes that need a decision, with reasons.
    func printConflicts(on screen: Screen) async throws {
        let failed = try await context.failedOperations()
        let held = try heldOperations()
        guard !failed.isEmpty || !held.isEmpty else { return screen.print("No change needs a decision.") }
        for error in failed {
            try printOperation(error.operation, on: screen)
            screen.print("      " + screen.paint(error.message.printable, in: .bad))
            let choices = error.isConflict ? "--mine, --theirs" : "`cards edit` to correct it, --retry"
            screen.print("      " + screen.paint("\(choices), --discard or --hold", in: .faint))
        }
        for operation in held {
            try printOperation(operation, on: screen)
            screen.print("      " + screen.paint("Held back. --retry sends it, --discard undoes it.", in: .faint))
        }
    }

    private func heldOperations() throws -> [PendingOperation] { try wallet.store.operations.all(in: .held) }

    private func printOperation(_ operation: PendingOperation, on screen: Screen) throws {
        let title = try wallet.title(of: operation.model, id: operation.localID)
        screen.print("  \(screen.paint("\(operation.id)", in: .strong))  \(operation.kind) of the \(title.printable)")
    }

    /// Carries out the user's decision.
    ///
    /// - Returns: A sentence about the result.
    func decide(_ id: PendingOperation.ID, choice: Conflicts.Choice) async throws -> String {
        do {
            let shown = try wallet.store.operations.all().first { $0.id == id }?.version
            guard let shown else { throw TandemError(.staleOperation, message: "No change has the number \(id).") }
            switch choice {
            case .mine:
                try await context.keepMine(shown)
                return "The next `cards sync` sends your values."
            case .theirs:
                return Self.sentence("The object has the server's values.", lost: try await context.takeServers(shown))
            case .discard: return Self.sentence("The change is undone.", lost: try await context.discard(shown))
            case .retry:
                try await context.retry(shown)
                return "The next `cards sync` sends it again."
            case .hold:
                try await context.hold(id)
                return "It is not sent until `cards conflicts \(id) --retry`."
            }
        } catch TandemError.Code.staleOperation {
            throw Failure(
                .badData, message: "No change has the number \(id).", advice: "`cards conflicts` lists the changes.")
        } catch let error as SyncError {
            throw Failure(error, session: session)
        }
    }

    private static func sentence(_ words: String, lost: [String: StorageValue]) -> String {
        lost.isEmpty ? words : "\(words) Not sent: \(lost.keys.sorted().joined(separator: ", "))."
    }
}
