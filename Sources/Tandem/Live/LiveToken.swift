/// Names subscriptions, so that a write can leave them out: see ``LivePublisher/identified(by:)``.
public final class LiveToken: Hashable, Sendable {
    public init() {}

    public static func == (lhs: LiveToken, rhs: LiveToken) -> Bool { lhs === rhs }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
