/// The policy for retries within one push or one pull.
///
/// Between pushes, only a `Retry-After` of the server causes a delay. The next push retries at once, however soon it
/// begins. A ``SyncScheduler`` increases its delays. An app that pushes by itself controls its own delays.
public struct RetryPolicy: Sendable, Hashable {
    /// The number of attempts per operation in one push, and per page in one pull; at least 1.
    public var tries = 3
    /// The first delay, before jitter.
    public var first: Duration = .milliseconds(500)
    /// The longest delay, and the longest `Retry-After` that one push or pull waits for.
    public var ceiling: Duration = .seconds(30)

    /// The longest `Retry-After` that is accepted, in seconds. Without this limit, a mistake of the server could stop
    /// every device for good.
    static let longestPause: Double = 86_400

    /// Creates the default policy: three attempts, a first delay of half a second, and at most half a minute.
    public init() {}

    /// Returns the delay after a failed attempt. It is random, up to twice the last limit, so that clients that failed
    /// together do not retry together.
    func delay(after tries: Int, random: UInt64) -> Duration {
        let longest = min(ceiling.seconds, first.seconds * Double(1 << min(max(tries - 1, 0), 30)))
        return .seconds(max(0, longest) * (Double(random >> 11) * 0x1p-53))
    }
}
