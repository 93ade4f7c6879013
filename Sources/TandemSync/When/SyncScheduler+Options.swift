import Foundation

extension SyncScheduler {
    /// When a scheduler syncs.
    public struct Options: Hashable, Sendable {
        /// Whether it syncs as soon as it is started.
        public var syncsAtStart = true
        /// How long after a local change: each other one in this time begins it anew.
        public var debounce: Duration = .seconds(2)
        /// How long after the first of many local changes at the latest.
        public var debounceCeiling: Duration = .seconds(10)
        /// How long after the last sync there is another one, if nothing calls for it; `nil` for never.
        public var interval: Duration? = .seconds(15 * 60)
        /// Whether it syncs over connections that cost by the byte too.
        public var allowsMetered = false
        /// Whether it uploads files over them, if it syncs over them. A sync that the app asks for does in any case.
        public var uploadsWhenMetered = false
        /// How long it waits after a sync that failed. After each further one it is twice as long, and each is cut by up
        /// to a half, by lot, so that those who failed together do not come back together.
        public var firstRetry: Duration = .seconds(5)
        /// The longest that it waits so.
        public var longestRetry: Duration = .seconds(15 * 60)

        public init() {}
    }

    /// What a scheduler is at.
    public enum State: Hashable, Sendable {
        /// It does nothing: it was not started, or it was stopped, or the store is closed.
        case stopped
        /// A sync is running, or waits for another one on the same store to end.
        case syncing
        /// It waits for something to do, until that time at the latest; with `nil`, for as long as nothing happens.
        case waiting(until: Date?)
        /// The system says that there is no network. It tries all the same when its interval is over.
        case waitingForNetwork
        /// There is only a network that costs by the byte.
        case waitingForUnmeteredNetwork
    }
}
