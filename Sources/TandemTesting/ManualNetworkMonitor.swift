import TandemSync

/// A network that comes and goes when it is told to.
///
/// ```swift
/// let network = ManualNetworkMonitor(.down)
/// let scheduler = SyncScheduler(sync, network: network) { result in show(result) }
/// network.set(.up)
/// ```
public final class ManualNetworkMonitor: NetworkMonitor {
    private let value: LiveValue<NetworkState>

    public init(_ state: NetworkState = .up) {
        value = LiveValue(state)
    }

    public var state: NetworkState { value.value }
    public var states: AsyncStream<NetworkState> { value.values(keeping: 100) }

    /// Sets what it tells of the network.
    public func set(_ state: NetworkState) { value.set(state) }

    /// How many listen.
    public var listenerCount: Int { value.followerCount }
}
