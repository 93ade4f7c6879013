import ArgumentParser
import Foundation

/// The passphrase of an encrypted store: from the command line, else from the environment.
struct KeyOptions: ParsableArguments {
    /// The variable that does the same as `--key`, and that other users don't see.
    static let variable = "CARDS_KEY"

    @Option(
        help: ArgumentHelp(
            "The passphrase of an encrypted store. A new store that is made with one is encrypted.",
            discussion: """
                `ps` shows arguments to everybody on the machine, and the shell keeps them in its history: \
                \(KeyOptions.variable) in the environment does the same unseen. A forgotten passphrase is lost data.
                """,
            valueName: "passphrase"))
    var key: String?

    /// What was given; `nil` opens the store as a plain one.
    var passphrase: String? {
        passphrase(in: ProcessInfo.processInfo.environment)
    }

    /// A variable that is empty counts as none.
    func passphrase(in environment: [String: String]) -> String? {
        key ?? environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
    }
}
