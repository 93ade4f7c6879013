import Foundation
import TandemSync

/// Prints what the system's network monitor tells, a word a line, and runs its next argument in a shell after each: so
/// that each is to change what is told.
@main struct Main {
    static func main() async throws {
        let monitor = SystemNetworkMonitor { $0 == ["x0"] }
        var commands = CommandLine.arguments.dropFirst()
        say(monitor.state)
        for await state in monitor.states {
            say(state)
            guard let command = commands.popFirst() else { break }
            // Foundation's Process needs a network by itself.
            guard system(command) == 0 else { exit(1) }
        }
        // Nobody listens any more.
        while monitor.isListening { try await Task.sleep(for: .milliseconds(1)) }
        print("over")
    }

    private static func say(_ state: NetworkState) {
        print("\(state.reach)" + (state.isMetered ? " metered" : ""))
        fflush(nil)
    }
}
