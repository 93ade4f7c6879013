import Tandem

/// A store whose changes may have to wait for files.
protocol FileWaiting {
    /// Returns whether an update has nothing to send before its files are uploaded.
    ///
    /// If the update replaces files, it stays in the queue. If it only adds files, it is removed: their URLs create
    /// another update.
    ///
    /// - Parameter removingAdditions: Whether an update that adds files only counts.
    func leaveToFiles(_ id: Operation.ID, removingAdditions: Bool) throws -> Bool
}
