/// The subscriptions with events of a commit.
struct PendingNotifications: Sendable {
    private(set) var immediate: [LiveSubscription] = []
    private(set) var background: [LiveSubscription] = []
    /// Whether another process has committed, which may have changed the operation queue.
    private(set) var hasExternalCommit: Bool

    init(hasExternalCommit: Bool = false) { self.hasExternalCommit = hasExternalCommit }

    var isEmpty: Bool { immediate.isEmpty && background.isEmpty && !hasExternalCommit }

    /// Adds the event of a subscription.
    mutating func add(_ subscription: LiveSubscription, event: CommitEvent) {
        subscription.enqueue(event)
        // Commits of other processes never run on the caller's thread.
        if subscription.isImmediate && !hasExternalCommit {
            immediate.append(subscription)
        } else {
            background.append(subscription)
        }
    }

    /// Adds the subscriptions of other notifications.
    mutating func add(_ other: PendingNotifications) {
        guard !isEmpty else {
            self = other
            return
        }
        background += other.background
        immediate += other.immediate
        hasExternalCommit = hasExternalCommit || other.hasExternalCommit
    }
}
