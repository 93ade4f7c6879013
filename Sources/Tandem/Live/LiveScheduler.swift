import Dispatch

/// Where a live publisher delivers.
///
/// The first result is computed off the caller's thread, and a write does not wait for deliveries. With ``immediate``,
/// results are computed and delivered on the thread that subscribes and the threads that write.
public struct LiveScheduler: Sendable {
    private enum Kind: Sendable {
        case immediate
        /// On the engine's own thread: for deliveries that take no time.
        case direct
        case queue(DispatchQueue)
        /// On a queue of the subscription's own.
        case background
    }

    private var kind: Kind

    /// On the caller's thread: the first result before the subscriber's request for it returns, each change set after
    /// its commit, with the writer free, before `write` returns.
    ///
    /// Changes of other processes come on a thread of Tandem's. Of several threads that write at once, one may deliver
    /// what the others did as well; all the same each `write` returns when its change was delivered to who has asked for
    /// it. A write made inside a delivery returns before its own change set is delivered: that comes next. What a write
    /// in a cancelled task makes necessary to be read afresh is read, and delivered, on a thread of Tandem's.
    public static let immediate = LiveScheduler(kind: .immediate)

    /// On the main queue. The app must run it: `RunLoop.main.run()`, `dispatchMain()`, or an asynchronous `main`.
    public static let main = LiveScheduler(kind: .queue(.main))

    /// On a serial queue of the subscription's own. The default.
    public static let background = LiveScheduler(kind: .background)

    /// On a queue, which should be serial: on a concurrent one deliveries still come one after the other.
    public static func queue(_ queue: DispatchQueue) -> LiveScheduler {
        LiveScheduler(kind: .queue(queue))
    }

    static let direct = LiveScheduler(kind: .direct)

    var isImmediate: Bool {
        if case .immediate = kind { true } else { false }
    }

    /// The queue to deliver on; `nil` if that needs none.
    var deliveryQueue: DispatchQueue? {
        if case .queue(let queue) = kind { queue } else { nil }
    }

    /// The scheduler of one subscription.
    var forOneSubscription: LiveScheduler {
        if case .background = kind { .queue(DispatchQueue(label: "tandem.live.delivery")) } else { self }
    }
}
