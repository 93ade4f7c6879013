import Foundation

/// Waiting until nothing is under way: for tests, which then know that what was not delivered never will be.
extension LiveEngine {
    /// Looks for commits of others, and waits until all subscriptions have done what there is to do.
    ///
    /// - Parameter isDone: What else must hold.
    /// - Returns: Whether they have, in the time there is: what takes longer is stuck.
    func settle(_ store: Store, seconds: Double = 60, until isDone: () -> Bool = { true }) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while true {
            if !isInMemory { _ = lookForForeignCommit(store) }
            if present.allSatisfy({ $0.standing.isSettled }), isDone() { return true }
            if Date() > deadline { return false }
            usleep(50)
        }
    }
}

extension LiveSubscription {
    /// How a subscription stands.
    struct Standing {
        /// Whether it would do nothing more if nothing came.
        var isSettled: Bool
        /// Whether its subscriber waits for a value.
        var isAsked: Bool
        var isLoaded: Bool
        var isOver: Bool
    }
}
