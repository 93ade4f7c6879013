/// What is known of the network: a hint, for only a request can tell whether a server answers.
public struct NetworkState: Hashable, Sendable {
    /// How far packets may get.
    public enum Reach: Int, Hashable, Sendable, Comparable {
        /// No farther than this machine.
        case none
        /// To machines with an address in a network of its own; no way out of these is known.
        case local
        /// Out of them.
        case wide

        public static func < (lhs: Reach, rhs: Reach) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    /// How far packets may get.
    public var reach: Reach
    /// Whether what is sent costs by the byte, or is said to.
    public var isMetered: Bool

    /// Whether anything but this machine may be reached.
    public var isUp: Bool { reach > .none }

    public init(reach: Reach = .wide, isMetered: Bool = false) {
        self.reach = reach
        self.isMetered = isMetered
    }

    /// A network that nothing is known of to its disadvantage.
    public static let up = NetworkState()
    /// No network.
    public static let down = NetworkState(reach: .none)
}

/// Tells when the network comes and goes.
///
/// ``SystemNetworkMonitor`` asks the system. Whoever knows better, as one whose server is behind a tunnel of the app's
/// own, brings another one.
public protocol NetworkMonitor: Sendable {
    /// The network as it is now.
    var state: NetworkState { get }

    /// The network: first as it is, then whenever it changes. Every call gives a sequence of its own.
    var states: AsyncStream<NetworkState> { get }
}
