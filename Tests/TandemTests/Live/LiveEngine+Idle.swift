import Foundation

@testable import Tandem

extension LiveEngine {
    /// Checks for commits of other processes, and waits until all subscriptions are idle. After that, no further
    /// delivery follows.
    ///
    /// - Parameter isDone: An additional condition.
    /// - Returns: Whether they became idle within the time limit. A subscription that needs longer is stuck.
    func waitUntilIdle(_ store: Store, seconds: Double = 60, until isDone: () -> Bool = { true }) -> Bool {
        let deadline = Date(timeIntervalSinceNow: seconds)
        while true {
            if !isInMemory { _ = checkForExternalCommit(store) }
            if present.allSatisfy({ $0.status.isIdle }), isDone() { return true }
            if Date() > deadline { return false }
            usleep(50)
        }
    }
    /// Suspends the queue once its current work has ended. A subscription counts as settled shortly before that, and
    /// its work would read a commit that follows at once.
    func suspendQueue() {
        queue.sync {}
        queue.suspend()
    }
}
