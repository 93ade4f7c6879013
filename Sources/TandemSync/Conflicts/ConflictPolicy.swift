import Tandem

/// One of the two sides of a conflict.
public enum ConflictSide: Hashable, Sendable {
    /// What is here.
    case client
    /// What the server holds.
    case server
}

/// What stands where one side has deleted an object and the other has changed it.
public enum DeletePolicy: Hashable, Sendable {
    /// The user chooses.
    case report
    /// The change: what was deleted comes back.
    case editWins
    /// What was done here.
    case client
    /// What was done on the server.
    case server
}

/// Which change stands where both sides have made one.
///
/// An object's own change that the server holds already, because an answer was lost, is no conflict, and no policy sees
/// it. Whatever a policy decides is sent on the version that it was decided about: a third change in between is another
/// conflict. A table without versions has none: there the last write wins, and nobody is asked.
///
/// | | changed on both sides | deleted here, changed there | changed here, deleted there |
/// |---|---|---|---|
/// | ``merge(edits:deletes:)`` | put together by property | as `deletes` says | as `deletes` says |
/// | ``clientWins`` | the properties changed here are sent | deleted there | brought back there |
/// | ``serverWins`` | becomes what the server holds | comes back here | goes here |
/// | ``newestWins`` | the later change, as above | the later change | the later change |
/// | ``report`` | waits for the user | waits for the user | waits for the user |
public struct ConflictPolicy<M: Model>: Sendable {
    let rule: ConflictRule

    /// Puts the two sides together, property by property: what only one side has changed is taken from it. The policy
    /// of a table, if not said.
    ///
    /// - Parameters:
    ///   - edits: Whose value stands where both have changed one property.
    ///   - deletes: What stands where one side has deleted the object.
    public static func merge(edits: ConflictSide = .client, deletes: DeletePolicy = .report) -> Self {
        Self(rule: .merge(edits: edits, deletes: deletes))
    }

    /// What was done here stands; of an object changed on both sides the properties that were changed here.
    public static var clientWins: Self { Self(rule: .clientWins) }

    /// What was done on the server stands. What is lost here is in the push's result.
    public static var serverWins: Self { Self(rule: .serverWins) }

    /// What was done last stands, however late it is sent: the local time of the last change, put right by the server's
    /// clock as its answers tell it, against the server's `updatedAt`.
    ///
    /// Times are only as good as clocks. The server's is told to the second, so that of two changes within one either
    /// may win; a clock that was wrong when the change was made, and right when it is sent, is not found out; and where
    /// the server has no time for an object, as for one that it keeps no tombstone of, the server's side stands.
    public static var newestWins: Self { Self(rule: .newestWins) }

    /// Every conflict waits for the user. What Azure Mobile Apps and Datasync do, if not told otherwise.
    public static var report: Self { Self(rule: .report) }

    /// The app decides about each.
    ///
    /// For example:
    ///
    /// ```swift
    /// try sync.table(Card.self).setConflicts(.resolve { conflict in
    ///     guard var card = conflict.local, let theirs = conflict.server else { return .merge }
    ///     card.points = max(card.points, theirs.points)
    ///     return .send(card)
    /// })
    /// ```
    ///
    /// - Parameter decide: Called in the push, which waits for it; it may write to the store, and must not begin a sync.
    ///   What it throws leaves the conflict to the user.
    public static func resolve(
        _ decide: @escaping @Sendable (Conflict<M>) async throws -> Resolution<M>
    ) -> Self {
        Self(
            rule: .ask { facts in
                let conflict = try Conflict<M>(facts)
                return try await decide(conflict).verdict(on: facts, shown: conflict.local)
            })
    }
}

extension SyncTable {
    /// Says which change stands where both sides have made one; ``ConflictPolicy/merge(edits:deletes:)``, if not said.
    public func setConflicts(_ policy: ConflictPolicy<M>) {
        context.change(M.self) { $0.conflicts = policy.rule }
    }
}
