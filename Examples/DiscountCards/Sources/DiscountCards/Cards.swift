import ArgumentParser
import Tandem
import TandemSync

/// The program: it manages discount cards offline, with names in any script.
@main struct Cards: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cards",
        abstract: "Keeps discount cards: import, search in any script, edit offline, watch, sync with a server.",
        discussion: "An example of Tandem, the object store. Start with `cards demo`.",
        subcommands: [
            ImportCards.self, AddCard.self, ListCards.self, SearchCards.self, StarCard.self, EditCard.self,
            DeleteCard.self, PhotoCard.self, WatchCards.self, Pending.self, Stats.self, LogIn.self, SyncCards.self,
            Conflicts.self, WebCards.self,
            Serve.self, Demo.self,
        ])

    /// Runs on the main thread: a blocking command must not occupy a thread of the concurrency pool.
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
            exit(withError: error)  // ArgumentParser prints usage errors and help
        }
    }
}
