import Synchronization

/// A monitor that asks the system: on Linux through netlink, on Apple platforms through their path monitor.
///
/// On Linux, a default route on a running interface gives access to other networks. Without a route, an address on a
/// running interface other than loopback gives a local network. The kernel does not know which connections are metered.
/// The monitor assumes that mobile modems are metered and other devices are not. It does not detect a phone that shares
/// its connection by cable or Wi-Fi. An app that can ask NetworkManager, or its user, passes a closure:
///
/// ```swift
/// let network = SystemNetworkMonitor { interfaces in interfaces.first.map(settings.isMetered) ?? false }
/// ```
///
/// On Apple platforms, the system reports expensive and constrained connections to listeners, after a moment. Until
/// then the monitor assumes an unmetered network. A scheduler that syncs at its start may therefore begin its first
/// sync over a metered connection. It may do so even if the options forbid it. To prevent that, disable
/// ``SyncScheduler/Options/syncsAtStart``. This part is built on Apple platforms only, where the package's tests are
/// not run.
///
/// If the system can't be asked, the monitor assumes that the network is available.
public final class SystemNetworkMonitor: NetworkMonitor {
    /// A shared monitor that guesses which connections are metered.
    public static let shared = SystemNetworkMonitor()

    private struct Watching {
        var users = 0
        var watch: (any NetworkWatch)?
    }

    private let isMetered: @Sendable ([String]) -> Bool
    private let value = LiveValue(NetworkState.up)
    private let watching = Mutex(Watching())

    /// - Parameter isMetered: Returns whether the connection is metered. It receives the names of the interfaces with
    ///   default routes, the preferred one first. It is called on any thread, and not on Apple platforms. By default,
    ///   the connection is metered if the first device is a mobile modem.
    public init(isMetered: (@Sendable (_ interfaces: [String]) -> Bool)? = nil) {
        self.isMetered = isMetered ?? Self.guess
    }

    /// The current state of the network.
    public var state: NetworkState {
        if isListening { return value.value }
        return Self.read(isMetered) ?? value.value
    }

    /// The states of the network: the current one first, then each change. The monitor listens to the system while it
    /// has listeners.
    public var states: AsyncStream<NetworkState> {
        // This calls the app's closure, which may read the state. So the lock is not held, and the listener is not yet
        // counted. The next listener finds the current state.
        let now = Self.read(isMetered) ?? .up
        let isFirst = watching.withLock { watching in
            watching.users += 1
            if watching.users == 1 { value.set(now) }
            return watching.users == 1
        }
        if isFirst { listen() }
        // The buffer also keeps short interruptions.
        return value.values(keeping: 8) { self.leave() }
    }

    private func listen() {
        let value = value
        let watch = Self.watch(isMetered) { value.set($0) }
        let isWanted = watching.withLock { watching in
            guard watching.users > 0, watching.watch == nil else { return false }
            watching.watch = watch
            return true
        }
        if !isWanted { watch?.end() }
    }

    private func leave() {
        watching.withLock { watching in
            watching.users -= 1
            guard watching.users == 0 else { return }
            watching.watch?.end()
            watching.watch = nil
        }
    }

    /// Whether the monitor listens to the system. For tests.
    package var isListening: Bool { watching.withLock { $0.watch != nil } }
}

/// A listener to the system's network events, until it is cancelled.
protocol NetworkWatch: Sendable {
    func end()
}
