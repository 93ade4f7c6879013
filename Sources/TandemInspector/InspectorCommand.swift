import ArgumentParser

/// A command of `tandem`, which uses the streams and the environment that it gets.
protocol InspectorCommand: ParsableCommand {
    /// Runs the command.
    ///
    /// - Parameter console: The streams and the environment.
    /// - Returns: The exit status: ``CommandStatus/success`` or ``CommandStatus/negative``.
    /// - Throws: An error that `CommandFailure` describes.
    func run(on console: Console) throws -> CommandStatus
}
