import Tandem

/// The sync state of an object.
public enum SyncState: Hashable, Sendable {
    /// The server has the object as it is here.
    case synced
    /// A change waits to be sent by the next push.
    case pending(PendingOperation.Kind)
    /// A change is being sent.
    case sending(PendingOperation.Kind)
    /// An attempt to send the change failed, for this reason. No action is needed: the next push retries.
    case retrying(PendingOperation.Kind, error: OperationError)
    /// The server refused the change: it waits for the user, or for another change.
    case failed(PendingOperation.Kind, error: OperationError)
    /// The server has other values, and the user must decide.
    case conflict(PendingOperation.Kind, error: OperationError)
    /// The user holds the change back.
    case held(PendingOperation.Kind)
    /// The server has the object as it is here, except for files.
    ///
    /// The number is that of the files that wait to be uploaded or are being uploaded. The reason is that of the last
    /// failed attempt, if any. The server keeps a replaced file until the new file is uploaded. No action is needed.
    case waitingForFiles(Int, reason: String?)
    /// The change can't be sent before another object, whose insert failed or is held.
    case waiting(PendingOperation.Kind, for: LocalID, model: String)

    /// The kind of the pending change; `nil` if there is none.
    public var kind: PendingOperation.Kind? {
        switch self {
        case .synced, .waitingForFiles: nil
        case .pending(let kind), .sending(let kind), .retrying(let kind, _), .failed(let kind, _),
            .conflict(let kind, _), .held(let kind), .waiting(let kind, _, _):
            kind
        }
    }
}

extension LocalReadTransaction {
    /// Returns the state of an object; `nil` if it does not exist.
    ///
    /// - Parameter isPushing: Whether an operation that is marked as being sent is in flight. If not, its response was
    ///   lost.
    func syncState(of localID: LocalID, in table: String, isPushing: Bool) throws -> SyncState? {
        guard let operation = try operation(on: localID, in: table) else {
            guard try hasObject(localID, in: table) else { return nil }
            let (count, reason) = try pendingFiles(of: localID, in: table)
            return count == 0 ? .synced : .waitingForFiles(count, reason: reason)
        }
        switch operation.state {
        case .held: return .held(operation.kind)
        case .failed:
            let error = operation.error ?? OperationError(message: "", at: operation.changedAt)
            return error.serverItem == nil
                ? .failed(operation.kind, error: error) : .conflict(operation.kind, error: error)
        // An attempt with an error has ended without a response, and waits.
        case .attempted where isPushing && operation.error == nil: return .sending(operation.kind)
        case .attempted, .pending:
            if try waitsForReplacements(operation.id) {
                let (count, reason) = try pendingFiles(of: localID, in: table)
                return .waitingForFiles(count, reason: reason)
            }
            if operation.kind != .delete, let blocker = try blocker(of: localID, in: table) {
                return .waiting(operation.kind, for: blocker.localID, model: blocker.model)
            }
            return operation.error.map { .retrying(operation.kind, error: $0) } ?? .pending(operation.kind)
        }
    }
}
