import ArgumentParser

/// The command `tandem`.
struct RootCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tandem",
        abstract: "Reads and maintains stores of Tandem, without their app.",
        discussion: """
            It reads the models from the store. The app can have the store open at the same time, except for encrypt \
            and rekey. Commands that change the store need --write.

            The key of an encrypted store comes from --key-file, the variable \(KeyOptions.variable), or a prompt. It \
            can't be an argument, because other users of the machine can see arguments.

            Exit status:
            \(CommandStatus.allCases.map { "  \($0.rawValue)  \($0.meaning)" }.joined(separator: "\n"))
            """,
        subcommands: [
            InfoCommand.self, SchemaCommand.self, QueryCommand.self, GetCommand.self, QueueCommand.self,
            ErrorsCommand.self, WatchCommand.self, ExportCommand.self, ImportCommand.self, CheckCommand.self,
            CompactCommand.self, BackupCommand.self, EncryptCommand.self, DecryptCommand.self, RekeyCommand.self,
            SalvageCommand.self, BrowseCommand.self,
        ])
}
