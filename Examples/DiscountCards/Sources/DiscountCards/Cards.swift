import ArgumentParser
import Tandem

/// The program: it keeps discount cards, with no network, in scripts of all kinds.
@main struct Cards: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cards",
        abstract: "Keeps discount cards: import, search in any script, edit offline, watch, see what waits to be sent.",
        discussion: "An example of Tandem, the object store. Start with `cards demo`.",
        subcommands: [
            ImportCards.self, AddCard.self, ListCards.self, SearchCards.self, StarCard.self, EditCard.self,
            DeleteCard.self, WatchCards.self, Pending.self, Stats.self, Demo.self,
        ])

    static func main() {
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch let failure as Failure {
            failure.end()
        } catch let error as TandemError {
            Failure(error).end()
        } catch {
            exit(withError: error)  // what ArgumentParser has to say: a wrong use, or the help that was asked for
        }
    }
}
