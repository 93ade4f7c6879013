import Foundation
import Tandem

/// A conflict policy, without its model's type.
enum ConflictRule: Sendable {
    case merge(edits: ConflictSide, deletes: DeletePolicy)
    case clientWins
    case serverWins
    case newestWins
    case report
    case ask(@Sendable (ConflictFacts) async throws -> ConflictVerdict)

    /// What holds where nothing was said.
    static let standard = ConflictRule.merge(edits: .client, deletes: .report)
}

/// What is known of a conflict.
struct ConflictFacts: Sendable {
    let operation: Operation
    let sides: ConflictSides
    let item: RemoteItem
    let round: Int
    let store: any LocalStore

    /// What kind of conflict it is.
    var meeting: Meeting {
        if sides.kind == .delete { return .deleteMeetsEdit }
        return sides.server == nil ? .editMeetsDelete : .editMeetsEdit
    }

    enum Meeting { case editMeetsEdit, deleteMeetsEdit, editMeetsDelete }
}

/// What is to be done about a conflict.
enum ConflictVerdict: Sendable {
    /// There is nothing to decide: what is here is sent on the server's version, and nobody's change is given up for it.
    case nothing
    /// What is here is sent on the server's version; these properties become what the server says.
    case ours(takingServers: Set<String>)
    /// These values are written here, and sent; `nil` to delete the object.
    case written([String: StorageValue]?)
    /// The object becomes what the server says.
    case theirs
    /// The user is to choose.
    case later(SyncError.Code, String)
}

extension ConflictRule {
    /// What a rule that needs nobody's help says. Of one that asks the app, what `merge` says.
    ///
    /// - Parameter changedAt: When the object was changed here, by the server's clock.
    func verdict(on facts: ConflictFacts, changedAt: Date) -> ConflictVerdict {
        let (sides, meeting) = (facts.sides, facts.meeting)
        let report = ConflictVerdict.later(.conflict, meeting.message)
        switch self {
        case .report: return report
        case .clientWins: return .ours(takingServers: [])
        case .serverWins: return .theirs
        case .newestWins:
            // Without a time of the server's nothing says that ours is newer.
            guard let there = facts.item.updatedAt?.date, changedAt > there else { return .theirs }
            return .ours(takingServers: [])
        case .merge(let edits, let deletes):
            switch (meeting, deletes) {
            case (.editMeetsEdit, _):
                return .ours(takingServers: edits == .client ? [] : sides.changedHere.intersection(sides.changedThere))
            case (_, .report): return report
            case (_, .client), (.editMeetsDelete, .editWins): return .ours(takingServers: [])
            case (_, .server), (.deleteMeetsEdit, .editWins): return .theirs
            }
        case .ask: return ConflictRule.standard.verdict(on: facts, changedAt: changedAt)
        }
    }
}

extension ConflictFacts.Meeting {
    var message: String {
        switch self {
        case .editMeetsEdit: "The object was changed here and on the server."
        case .deleteMeetsEdit: "The object was deleted here, and changed on the server."
        case .editMeetsDelete: "The object was changed here, and deleted on the server."
        }
    }
}
