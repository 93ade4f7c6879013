import Foundation
import Tandem

/// An operation of a ``MemoryLocalStore``.
struct MemoryOperation: Sendable {
    let id: Operation.ID
    let object: MemoryKey
    let localID: LocalID
    var kind: Operation.Kind
    var state = Operation.State.pending
    var changedAt: Date
    var attempts = 0
    /// What has changed since the operation was last sent, or at all if it was not, each with what it was before.
    var changes: [String: StorageValue] = [:]
    /// What the attempt under way has taken along; `nil` if none is under way. An insert takes all along: of one these are
    /// the references that it has left out, each with what it was then.
    var sent: [String: StorageValue]?
    /// What the attempt under way is; the object may have been deleted, or brought back, since.
    var sentKind: Operation.Kind?
    var replaced: Operation.Kind?
    var attempted = MemoryAttempts()
    var attemptedKinds: AttemptedKinds = []
    /// What of it had been sent before the attempt under way.
    var kindsBefore: AttemptedKinds = []
    var error: OperationError?
    var retryAt: Date?

    /// Whether all of the object is to be sent.
    var isWhole: Bool { kind == .insert || replaced == .insert }

    /// The properties that it changes, those of an attempt under way included, with their oldest bases.
    var bases: [String: StorageValue] {
        guard sentKind != .insert, let sent else { return changes }
        return sent.merging(changes) { old, _ in old }
    }

    func base(of property: String) -> StorageValue? {
        (sentKind == .insert ? nil : sent?[property]) ?? changes[property]
    }

    /// The state of what is left to be sent after an answer: one that was held in the flight is held on.
    var stateAfterAnswer: Operation.State { state == .held && sent != nil ? .held : .pending }

    /// Nothing is under way, and nothing that was sent is without its answer.
    mutating func forgetAttempts() {
        (sent, sentKind, retryAt, error) = (nil, nil, nil, nil)
        (attempted, attemptedKinds, kindsBefore) = (MemoryAttempts(), [], [])
    }

    func described(_ model: MemoryModel) -> Operation {
        Operation(
            id: id, model: model.definition.name, table: model.table, localID: localID, kind: kind, state: state,
            changedAt: changedAt, attempts: attempts, base: changes, sent: sentKind == .insert ? [:] : sent ?? [:],
            replaced: replaced, error: error, retryAt: retryAt)
    }
}
