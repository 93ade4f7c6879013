import Foundation

/// The effects of sending on the queue, for a sync of your own.
extension WriteTransaction {
    /// Marks an operation as being sent: from now on the server may have it.
    ///
    /// Changes made to the object before the response arrives stay pending after it.
    ///
    /// - Returns: The operation as it is being sent.
    /// - Throws: ``TandemError/Code/staleOperation`` if it is no longer in the queue, or is held.
    @discardableResult
    public func beginAttempt(_ id: PendingOperation.ID) throws -> PendingOperation {
        try sync.beginAttempt(id, leavingOut: []) { $1 }
    }

    /// Applies the server's acknowledgment. The operation is done and the object synced, unless it changed meanwhile.
    ///
    /// - Parameters:
    ///   - id: The ID of the operation.
    ///   - serverID: The object's server ID; required after an insert.
    ///   - version: The server's concurrency token for its current state.
    ///   - createdAt: The time at which the server created the object, or `nil` to keep the known time.
    ///   - updatedAt: The time of the server's last change to the object. `nil` removes the known time.
    /// - Throws: ``TandemError/Code/staleOperation`` if the operation is not under way;
    ///   ``TandemError/Code/invalidValue`` if the server ID is missing after an insert;
    ///   ``TandemError/Code/duplicateID`` if another object has the server ID.
    public func acknowledge(
        _ id: PendingOperation.ID, serverID: ServerID? = nil, version: String? = nil, createdAt: Date? = nil,
        updatedAt: Date? = nil
    ) throws {
        try sync.acknowledge(
            id, serverID: serverID, version: version, createdAt: createdAt, updatedAt: updatedAt)
    }

    /// Records that an attempt failed, and surely changed nothing on the server.
    ///
    /// The kind of its request stays recorded: the caller does not name the request, and after a crash it may have been
    /// another one.
    ///
    /// - Parameters:
    ///   - id: The ID of the operation.
    ///   - error: The reason for the failure.
    ///   - retry: Whether the operation is retried automatically. If not, it waits for the user or for a new change.
    /// - Throws: ``TandemError/Code/staleOperation`` if the operation is no longer in the queue.
    public func fail(_ id: PendingOperation.ID, with error: OperationError, retry: Bool) throws {
        try sync.fail(id, with: error, retry: retry)
    }
}
