import Dispatch

/// The thread or queue on which a live publisher delivers.
///
/// The first result is computed outside the caller's thread, and a write does not wait for deliveries. ``immediate`` is
/// different: the subscribing and the writing threads compute and deliver the results.
public struct LiveScheduler: Sendable {
    private enum Kind: Sendable {
        case immediate
        /// The engine's own thread, for deliveries that take no time.
        case direct
        case queue(DispatchQueue)
        /// A queue for each subscription.
        case background
    }

    private var kind: Kind

    /// Delivers on the caller's thread. The first result arrives before the subscriber's request for it returns. Each
    /// change set arrives after its commit, when the writer is free, and before `write` returns.
    ///
    /// Changes of other processes arrive on a thread of Tandem. If several threads write at once, one of them may also
    /// deliver the changes of the others. Each `write` still returns only after its change was delivered to subscribers
    /// with demand. A write inside a delivery returns before its own change set is delivered, which follows next. If a
    /// write in a cancelled task requires a reload, a thread of Tandem reloads and delivers.
    public static let immediate = LiveScheduler(kind: .immediate)

    /// Delivers on the main queue. The app must run it: `RunLoop.main.run()`, `dispatchMain()`, or an asynchronous
    /// `main`.
    public static let main = LiveScheduler(kind: .queue(.main))

    /// Delivers on a serial queue for each subscription. This is the default.
    public static let background = LiveScheduler(kind: .background)

    /// Delivers on a queue, which should be serial. On a concurrent queue, deliveries still come one at a time.
    public static func queue(_ queue: DispatchQueue) -> LiveScheduler {
        LiveScheduler(kind: .queue(queue))
    }

    static let direct = LiveScheduler(kind: .direct)

    var isImmediate: Bool {
        if case .immediate = kind { true } else { false }
    }

    /// The queue for deliveries, or `nil` if there is none.
    var deliveryQueue: DispatchQueue? {
        if case .queue(let queue) = kind { queue } else { nil }
    }

    /// The scheduler of a single subscription.
    var forOneSubscription: LiveScheduler {
        if case .background = kind { .queue(DispatchQueue(label: "tandem.live.delivery")) } else { self }
    }
}
