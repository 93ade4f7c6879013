import ArgumentParser
import Foundation

/// The passphrase of an encrypted store: from the command line, else from the environment.
struct KeyOptions: ParsableArguments {
    /// The environment variable that replaces `--key`. Other users can't see it.
    static let variable = "CARDS_KEY"

    @Option(
        help: ArgumentHelp(
            "The passphrase of an encrypted store. A new store with a passphrase is encrypted.",
            discussion: """
                `ps` shows arguments to all users, and the shell stores them in its history. The variable \
                \(KeyOptions.variable) is not visible to them. Without the passphrase, the data is lost.
                """,
            valueName: "passphrase"))
    var key: String?

    /// The given passphrase; `nil` opens a plain store.
    var passphrase: String? {
        passphrase(in: ProcessInfo.processInfo.environment)
    }

    /// Returns the passphrase. An empty variable counts as unset.
    func passphrase(in environment: [String: String]) -> String? {
        key ?? environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
    }
}
