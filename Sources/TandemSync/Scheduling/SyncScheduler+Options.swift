import Foundation

extension SyncScheduler {
    /// The options of a scheduler.
    public struct Options: Hashable, Sendable {
        /// Whether the scheduler syncs as soon as it is started.
        public var syncsAtStart = true
        /// The delay after a local change. Each further change in this time restarts the delay.
        public var debounce: Duration = .seconds(2)
        /// The longest delay after the first of many local changes.
        public var debounceCeiling: Duration = .seconds(10)
        /// The interval between syncs without another cause; `nil` for none.
        public var interval: Duration? = .seconds(15 * 60)
        /// The shortest and the longest interval between polls for changes on the server; `nil` for no polls.
        ///
        /// For example, changes of other devices arrive within a minute, and within five seconds while there are more:
        ///
        /// ```swift
        /// var options = SyncScheduler.Options()
        /// options.polling = .seconds(5) ... .seconds(60)
        /// ```
        ///
        /// A poll requests a tag of each table, ``Remote/changeTag(of:)``. The scheduler pulls only the tables with
        /// other tags than before. After a change, the interval is the shortest, at least a second. Each poll without a
        /// change doubles it, up to the longest. If the server has no tags, the scheduler stops polling after the
        /// first poll.
        public var polling: ClosedRange<Duration>?
        /// Whether the scheduler also syncs over metered connections.
        public var allowsMetered = false
        /// Whether the scheduler uploads files over metered connections, if it syncs over them. A sync that the app
        /// requests uploads files in any case.
        public var uploadsWhenMetered = false
        /// The delay after a failed sync. Each further failure doubles it. Random jitter shortens each delay by up to a
        /// half, so that clients that failed together do not retry together.
        public var firstRetry: Duration = .seconds(5)
        /// The longest delay after failed syncs.
        public var longestRetry: Duration = .seconds(15 * 60)

        /// Creates options with the default values.
        public init() {}
    }

    /// The state of a scheduler.
    public enum State: Hashable, Sendable {
        /// The scheduler is inactive: it was not started, it was stopped, or the store is closed.
        case stopped
        /// A sync is running, or waits for another sync on the same store.
        case syncing
        /// The scheduler waits for an event, until the given time at the latest; with `nil`, without a limit.
        case waiting(until: Date?)
        /// The system reports no network. The scheduler still syncs when its interval is over.
        case waitingForNetwork
        /// Only a metered network is available.
        case waitingForUnmeteredNetwork
    }
}
