/// The known state of the network. It is a hint: only a request can tell whether a server responds.
public struct NetworkState: Hashable, Sendable {
    /// The reach of packets.
    public enum Reach: Int, Hashable, Sendable, Comparable {
        /// Packets reach only this machine.
        case none
        /// Packets reach machines in a local network, without a known route out of it.
        case local
        /// Packets reach other networks.
        case wide

        /// Returns whether the first value is before the second one.
        public static func < (lhs: Reach, rhs: Reach) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// The reach of packets.
    public var reach: Reach
    /// Whether the connection is metered, or reported as metered.
    public var isMetered: Bool

    /// Whether any other machine may be reachable.
    public var isUp: Bool { reach > .none }

    /// Creates a state of the network.
    ///
    /// - Parameters:
    ///   - reach: The reach of packets.
    ///   - isMetered: Whether the connection is metered.
    public init(reach: Reach = .wide, isMetered: Bool = false) {
        self.reach = reach
        self.isMetered = isMetered
    }

    /// An unrestricted network.
    public static let up = NetworkState()
    /// A missing network.
    public static let down = NetworkState(reach: .none)
}

/// A monitor of the network's state.
///
/// ``SystemNetworkMonitor`` asks the system. An app with better knowledge, for example of its own tunnel to the server,
/// can implement another monitor.
public protocol NetworkMonitor: Sendable {
    /// The current state of the network.
    var state: NetworkState { get }

    /// The states of the network: the current one first, then each change. Each call returns a new sequence.
    var states: AsyncStream<NetworkState> { get }
}
