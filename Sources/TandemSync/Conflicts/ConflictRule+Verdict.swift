import Foundation
import Tandem

extension ConflictRule {
    /// Returns the decision of the rule. For a rule that asks the app, returns the decision of `merge`.
    ///
    /// - Parameter changedAt: The time of the local change, by the server's clock.
    func verdict(on facts: ConflictFacts, changedAt: Date) -> ConflictVerdict {
        let (sides, kind) = (facts.sides, facts.kind)
        let report = ConflictVerdict.later(.conflict, message: kind.message)
        switch self {
        case .report: return report
        case .clientWins: return .ours(takingServers: [])
        case .serverWins: return .theirs
        case .newestWins:
            // Without a time of the server, the local change can't be shown to be newer.
            guard let there = facts.item.updatedAt?.date, changedAt > there else { return .theirs }
            return .ours(takingServers: [])
        case .merge(let edits, let deletes):
            switch (kind, deletes) {
            case (.bothEdited, _):
                return .ours(takingServers: edits == .client ? [] : sides.changedHere.intersection(sides.changedThere))
            case (_, .report): return report
            case (_, .client), (.deletedOnServer, .editWins): return .ours(takingServers: [])
            case (_, .server), (.deletedHere, .editWins): return .theirs
            }
        case .ask: return ConflictRule.standard.verdict(on: facts, changedAt: changedAt)
        }
    }
}

extension ConflictFacts.Kind {
    var message: String {
        switch self {
        case .bothEdited: "The object was changed here and on the server."
        case .deletedHere: "The object was deleted here, and changed on the server."
        case .deletedOnServer: "The object was changed here, and deleted on the server."
        }
    }
}
