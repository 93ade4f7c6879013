import ArgumentParser
import Tandem
import TandemSync

/// The program: it keeps discount cards, with no network, in scripts of all kinds.
@main struct Cards: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cards",
        abstract: "Keeps discount cards: import, search in any script, edit offline, watch, sync with a server.",
        discussion: "An example of Tandem, the object store. Start with `cards demo`.",
        subcommands: [
            ImportCards.self, AddCard.self, ListCards.self, SearchCards.self, StarCard.self, EditCard.self,
            DeleteCard.self, PhotoCard.self, WatchCards.self, Pending.self, Stats.self, LogIn.self, SyncCards.self,
            Conflicts.self,
            Serve.self, Demo.self,
        ])

    /// On the main thread: a command that waits there holds none of those that asynchronous work needs.
    @MainActor static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as Failure {
            failure.end()
        } catch let error as TandemError {
            Failure(error).end()
        } catch let error as SyncError {
            Failure(error).end()
        } catch {
            exit(withError: error)  // what ArgumentParser has to say: a wrong use, or the help that was asked for
        }
    }
}
