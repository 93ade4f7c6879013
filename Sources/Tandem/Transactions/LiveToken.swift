/// A token that identifies subscriptions, so that a write can leave them out: see ``LivePublisher/identified(by:)``.
public final class LiveToken: Hashable, Sendable {
    /// Creates a token that differs from all others.
    public init() {}

    /// Returns whether two tokens are the same object.
    public static func == (lhs: LiveToken, rhs: LiveToken) -> Bool { lhs === rhs }

    /// Hashes the token's identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
