import Tandem

/// The next step of an operation in a push.
///
/// Each method that handles an operation returns the next step.
/// ``PushRun/advance(_:from:appliesResponse:inBatch:)`` carries out the steps until the operation ends or waits for
/// another one.
enum Step: Sendable {
    // MARK: Before a request

    /// Wait until requests may be sent, and let the app check the operation.
    case check
    /// Read the operation, and record an attempt.
    case prepare
    /// Send the request of a recorded attempt.
    case send(Attempt)

    // MARK: After a response

    /// Store the server's current item after a success. It is `nil` after a delete without a tombstone.
    case acknowledge(Attempt, item: RemoteItem?)
    /// Rebase the operation onto an item that no other client has written. The operation's values must still follow.
    case rebase(Attempt, onto: RemoteItem)
    /// Resolve a conflict. The server's item differs from the one that the operation is based on, or does not exist.
    ///
    /// Without an attempt, a pull already fetched a newer version; sending the request would only conflict.
    case resolveConflict(ServerState)
    /// Ask the app for a decision about a conflict.
    case ask(ConflictFacts, serverState: ServerState)
    /// Record that the outcome of an attempt is unknown.
    case markOutcomeUnknown(Attempt, error: SyncError)
    /// Handle a failed exchange.
    case fail(Attempt, with: RemoteFailure, mayHaveActed: Bool)

    // MARK: After a transaction

    /// Read the outcome from the queue. The attempt has ended meanwhile, or the operation was held.
    case reread
    /// Record an edit that was dropped for the server's values, and end the operation.
    case dropEdit(LostEdit)
    /// Release the operations that wait for this one, and send its remaining values. The server has stored the object.
    case sendRest
    /// Send the operation again. The value is the outcome if the push stops before.
    case retry(unfinished: SyncResult.Outcome)

    // MARK: End

    /// Wait for another operation, behind which this one is parked.
    case wait
    /// End the operation with an outcome.
    case end(SyncResult.Outcome)
    /// End the operation without an outcome. It was collapsed away, or waits in the queue for a file.
    case skip

    /// Whether a response is stored, and no step remains that applies it.
    var isConcluded: Bool {
        switch self {
        case .retry, .wait, .end, .skip: true
        default: false
        }
    }
}
