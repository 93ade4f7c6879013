import Tandem

/// A side of a conflict.
public enum ConflictSide: Hashable, Sendable {
    /// The local side.
    case client
    /// The server's side.
    case server
}

/// The winner if one side deleted an object and the other side changed it.
public enum DeletePolicy: Hashable, Sendable {
    /// The user decides.
    case report
    /// The change wins: the deleted object is restored.
    case editWins
    /// The local change wins.
    case client
    /// The server's change wins.
    case server
}

/// A policy for objects that both sides have changed.
///
/// A change that the server already has because a response was lost is not a conflict. No policy sees it. A decision is
/// sent with the version that it was made for. A third change in between is another conflict. In tables without
/// versions, the last write wins without a decision, unless the server has deleted the object.
///
/// | | changed on both sides | deleted here, changed there | changed here, deleted there |
/// |---|---|---|---|
/// | ``merge(edits:deletes:)`` | merged by property | see `deletes` | see `deletes` |
/// | ``clientWins`` | the properties changed here are sent | deleted there | undeleted there |
/// | ``serverWins`` | becomes the server's version | restored here | removed here |
/// | ``newestWins`` | the later change, as above | the later change | the later change |
/// | ``report`` | waits for the user | waits for the user | waits for the user |
public struct ConflictPolicy<M: Model>: Sendable {
    let rule: ConflictRule

    /// Merges the two sides by property: a property that only one side changed gets that side's value. This is the
    /// default policy of a table.
    ///
    /// - Parameters:
    ///   - edits: The side that wins if both sides changed the same property.
    ///   - deletes: The policy if one side has deleted the object.
    public static func merge(edits: ConflictSide = .client, deletes: DeletePolicy = .report) -> Self {
        Self(rule: .merge(edits: edits, deletes: deletes))
    }

    /// The local change wins. If both sides changed an object, the properties changed here are sent.
    public static var clientWins: Self { Self(rule: .clientWins) }

    /// The server's change wins. The push's result lists the edits that are lost.
    public static var serverWins: Self { Self(rule: .serverWins) }

    /// The latest change wins, however late it is sent. The policy compares the local time of the last change with the
    /// server's `updatedAt`. The `Date` headers of the server's responses correct the local time.
    ///
    /// The result is only as accurate as the clocks. The server's clock is known to the second, so either of two
    /// changes within a second may win. The policy does not detect a clock that was wrong at the change and is right
    /// when it is sent. If the server has no time for an object, for example without a tombstone, the server's side
    /// wins.
    public static var newestWins: Self { Self(rule: .newestWins) }

    /// Every conflict waits for the user. This is the default of Azure Mobile Apps and Datasync.
    public static var report: Self { Self(rule: .report) }

    /// The app decides about each conflict.
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
    /// - Parameter decide: The push calls this closure and waits for it. The closure may write to the store, and must
    ///   not begin a sync. If it throws, the conflict waits for the user.
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
