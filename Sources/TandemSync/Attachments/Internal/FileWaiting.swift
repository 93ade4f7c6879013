import Tandem

/// A store whose changes may have to wait for files.
protocol FileWaiting {
    /// Takes an update out of the queue that has nothing to say before its files have been uploaded: their URLs make
    /// another one.
    ///
    /// - Returns: Whether it was one.
    func leaveToFiles(_ id: Operation.ID) throws -> Bool
}
