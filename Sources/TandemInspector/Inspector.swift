import ArgumentParser
import Foundation

/// The command `tandem`, which reads and maintains stores without their app.
package enum Inspector {
    /// Runs a command with the streams of this process, and returns its exit status.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, without the name of the program.
    ///   - browse: Serves the pages of `browse` until the user ends them.
    package static func main(
        _ arguments: [String], browse: @escaping @Sendable (BrowseRequest) throws -> Void
    ) -> Int32 {
        // A closed output is an error of `write`, and does not end the process.
        signal(SIGPIPE, SIG_IGN)
        var console = Console.standard
        console.browse = browse
        return run(arguments, on: console).rawValue
    }

    /// Runs a command, and returns its exit status.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, without the name of the program.
    ///   - console: The streams and the environment.
    static func run(_ arguments: [String], on console: Console) -> CommandStatus {
        do {
            var command = try RootCommand.parseAsRoot(arguments)
            if let command = command as? any InspectorCommand { return try command.run(on: console) }
            // The help.
            try command.run()
            return .success
        } catch is ClosedOutput {
            // The reader has what it wants: `tandem query … | head`.
            return .success
        } catch {
            return report(error, on: console)
        }
    }

    private static func report(_ error: any Error, on console: Console) -> CommandStatus {
        if let failure = CommandFailure(error) {
            console.report(failure.text)
            return failure.status
        }
        // The parser's errors, and its help.
        let text = RootCommand.fullMessage(for: error)
        let code = RootCommand.exitCode(for: error)
        guard code.isSuccess else {
            console.report(text)
            return code == .validationFailure ? .usage : .failure
        }
        // The reader of the help can have ended.
        try? console.write(text + "\n")
        return .success
    }
}
