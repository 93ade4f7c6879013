import TandemSync

/// A network monitor whose state tests set.
///
/// ```swift
/// let network = ManualNetworkMonitor(.down)
/// let scheduler = SyncScheduler(sync, network: network) { result in show(result) }
/// network.set(.up)
/// ```
public final class ManualNetworkMonitor: NetworkMonitor {
    private let value: LiveValue<NetworkState>

    /// Creates a monitor with an initial state.
    public init(_ state: NetworkState = .up) {
        value = LiveValue(state)
    }

    /// The current state.
    public var state: NetworkState { value.value }
    /// The current state and all later ones.
    public var states: AsyncStream<NetworkState> { value.values(keeping: 100) }

    /// Sets the reported state of the network.
    public func set(_ state: NetworkState) { value.set(state) }

    /// The number of listeners.
    public var listenerCount: Int { value.followerCount }
}
