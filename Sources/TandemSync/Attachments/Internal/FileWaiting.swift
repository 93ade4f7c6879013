import Tandem

/// A store whose changes may have to wait for files.
protocol FileWaiting {
    /// Whether an update has nothing to send before its files are uploaded.
    ///
    /// If it replaces files, it stays in the queue. If it adds files only, it is removed: their URLs make another one.
    ///
    /// - Parameter removingAdditions: Whether an update that adds files only counts.
    func leaveToFiles(_ id: Operation.ID, removingAdditions: Bool) throws -> Bool
}
