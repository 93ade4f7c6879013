/// The state of a store that a subscription loads its parts from.
///
/// The connection is in a transaction that reads the state.
struct LiveSnapshot {
    let store: Store
    let connection: Connection
    /// The number of the last commit of this process in the state.
    let sequence: UInt64
    /// The position of the state in the log. It is `nil` if it is not known exactly, and for a store in memory.
    let position: LogPosition?

    /// Calls a function with a second connection that reads the same state, for another thread. If the first connection
    /// is stopped, the second one stops too.
    ///
    /// - Returns: `nil` if the function was not called, because the second connection can't read the same state. There
    ///   may have been a commit since, or the position is unknown, or no connection can be opened.
    func withSecondConnection<T>(_ body: (Connection) throws -> T) throws -> T? {
        // May exceed the maximum: waiting for a reader here could deadlock with another load.
        guard let position, let reader = try? store.readers?.borrowForWalk() else { return nil }
        let second = reader.connection
        second.otherMustStop = connection.mustStop
        defer {
            second.otherMustStop = nil
            store.giveBack(reader)
        }
        return try second.consistently(true) {
            // The first read determines the state. A position never returns, so if it is still the same, no commit
            // occurred in between.
            let isReadable = (try? store.checkStamp(second)) != nil
            guard isReadable, second.logPosition == position else { return nil }
            return try body(second)
        }
    }
}
