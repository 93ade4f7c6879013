import Tandem

/// A conflict policy, without its model's type.
enum ConflictRule: Sendable {
    case merge(edits: ConflictSide, deletes: DeletePolicy)
    case clientWins
    case serverWins
    case newestWins
    case report
    case ask(@Sendable (ConflictFacts) async throws -> ConflictVerdict)

    /// The default rule.
    static let standard = ConflictRule.merge(edits: .client, deletes: .report)
}

/// The facts about a conflict.
struct ConflictFacts: Sendable {
    let operation: PendingOperation
    let sides: ConflictSides
    let item: RemoteItem
    let round: Int

    /// The kind of the conflict.
    var kind: Kind {
        if sides.kind == .delete { return .deletedHere }
        return sides.server == nil ? .deletedOnServer : .bothEdited
    }

    enum Kind { case bothEdited, deletedHere, deletedOnServer }
}
