import Foundation
import Tandem

/// An operation of a ``MemoryLocalStore``.
struct MemoryOperation: Sendable {
    let id: PendingOperation.ID
    let object: MemoryKey
    let localID: LocalID
    var kind: PendingOperation.Kind
    var state = PendingOperation.State.pending
    var changedAt: Date
    var attempts = 0
    /// The changes since the last attempt, or since the beginning, each with its previous value.
    var changes: [String: StorageValue] = [:]
    /// The changes in the current attempt; `nil` if none is running. For an insert, which contains the whole object,
    /// these are the omitted references with their values at that time.
    var sent: [String: StorageValue]?
    /// The kind of the current attempt. The object may have been deleted or restored since.
    var sentKind: PendingOperation.Kind?
    var replaced: PendingOperation.Kind?
    var attempted = MemoryAttempts()
    var attemptedKinds: AttemptedKinds = []
    /// The kinds of attempts before the current one.
    var kindsBefore: AttemptedKinds = []
    var error: OperationError?
    var retryAt: Date?

    /// Whether to send the whole object.
    var isWhole: Bool { kind == .insert || replaced == .insert }

    /// The changed properties, including those of the current attempt, with their oldest bases.
    var bases: [String: StorageValue] {
        guard sentKind != .insert, let sent else { return changes }
        return sent.merging(changes) { old, _ in old }
    }

    func base(of property: String) -> StorageValue? {
        (sentKind == .insert ? nil : sent?[property]) ?? changes[property]
    }

    /// The state of the rest after a response: an operation that was held in flight stays held.
    var stateAfterResponse: PendingOperation.State { state == .held && sent != nil ? .held : .pending }

    /// Removes the record of all attempts.
    mutating func forgetAttempts() {
        (sent, sentKind, retryAt, error) = (nil, nil, nil, nil)
        (attempted, attemptedKinds, kindsBefore) = (MemoryAttempts(), [], [])
    }

    func described(_ model: MemoryModel) -> PendingOperation {
        PendingOperation(
            id: id, model: model.definition.name, table: model.table, localID: localID, kind: kind, state: state,
            changedAt: changedAt, attempts: attempts, base: changes, sent: sentKind == .insert ? [:] : sent ?? [:],
            replaced: replaced, error: error, retryAt: retryAt)
    }
}
