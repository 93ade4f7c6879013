import Foundation
import TandemSync

/// Prints the states of the system's network monitor, one word per line. After each, it runs its next argument in a
/// shell, which is to change the state.
@main struct Main {
    static func main() async throws {
        let monitor = SystemNetworkMonitor { $0 == ["x0"] }
        var commands = CommandLine.arguments.dropFirst()
        say(monitor.state)
        for await state in monitor.states {
            say(state)
            guard let command = commands.popFirst() else { break }
            // Foundation's Process itself needs a network.
            guard system(command) == 0 else { exit(1) }
        }
        // The listener has ended.
        while monitor.isListening { try await Task.sleep(for: .milliseconds(1)) }
        print("over")
    }

    private static func say(_ state: NetworkState) {
        print("\(state.reach)" + (state.isMetered ? " metered" : ""))
        fflush(nil)
    }
}
