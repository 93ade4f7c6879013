extension LiveSubscription {
    /// The state of a subscription.
    struct Status {
        /// Whether it has nothing left to do without new events.
        var isIdle: Bool
        /// Whether its subscriber waits for a value.
        var isAsked: Bool
        var isLoaded: Bool
        var isOver: Bool
    }
}
