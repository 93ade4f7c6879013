import ArgumentParser

/// The permission to change the store.
struct WriteOptions: ParsableArguments {
    @Flag(help: "Allow the command to change the store.")
    var write = false

    /// Checks the permission.
    ///
    /// - Parameter change: The change, as the subject of a sentence.
    func check(_ change: String) throws {
        guard write else {
            throw CommandFailure(
                .usage, message: "\(change) changes the store.",
                advice: "Give --write to allow it. Nothing was changed.")
        }
    }
}
