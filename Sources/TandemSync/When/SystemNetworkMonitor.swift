import Synchronization

/// Asks the system for the network: on Linux through netlink, on Apple's platforms through their path monitor.
///
/// On Linux a default route on a running interface is a way out. Without one, an address on a running interface other
/// than the loopback's makes a local network. The kernel does not know which connections cost by the byte: mobile modems
/// are thought to, all else is not, so a telephone that lends its connection by cable or Wi-Fi goes unnoticed. An app
/// that can ask NetworkManager, or its user, says so:
///
/// ```swift
/// let network = SystemNetworkMonitor { interfaces in interfaces.first.map(settings.isMetered) ?? false }
/// ```
///
/// On Apple's platforms the system says which connections are expensive, or are to be spared. It tells who listens, a
/// moment later: until then the network is thought to be there, and to cost nothing. A scheduler that syncs at its start
/// may so begin its first sync over a connection that costs by the byte, though it was told not to; an app that must not
/// starts without one (``SyncScheduler/Options/syncsAtStart``). This part is built on Apple's platforms alone, where the
/// package's tests are not run.
///
/// Where the system does not let itself be asked, the network is thought to be there.
public final class SystemNetworkMonitor: NetworkMonitor {
    /// One for all, that guesses what costs.
    public static let shared = SystemNetworkMonitor()

    private struct Watching {
        var users = 0
        var watch: (any NetworkWatch)?
    }

    private let isMetered: @Sendable ([String]) -> Bool
    private let value = LiveValue(NetworkState.up)
    private let watching = Mutex(Watching())

    /// - Parameter isMetered: Whether to send costs by the byte, where these interfaces have default routes: their names,
    ///   the one preferred first. Called on any thread, and not on Apple's platforms. If not said, whether the first one
    ///   that is a device is a mobile modem.
    public init(isMetered: (@Sendable (_ interfaces: [String]) -> Bool)? = nil) {
        self.isMetered = isMetered ?? Self.guess
    }

    public var state: NetworkState {
        if isListening { return value.value }
        return Self.read(isMetered) ?? value.value
    }

    /// The network: first as it is, then whenever it changes. The system is listened to for as long as somebody does.
    public var states: AsyncStream<NetworkState> {
        // Before anybody is counted, and with the lock open: the app's closure is called, and may ask for the state. Who
        // comes next is to find the network as it is.
        let now = Self.read(isMetered) ?? .up
        let isFirst = watching.withLock { watching in
            watching.users += 1
            if watching.users == 1 { value.set(now) }
            return watching.users == 1
        }
        if isFirst { listen() }
        // A quick blip is told as well.
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

    /// For tests: whether the system is being listened to.
    package var isListening: Bool { watching.withLock { $0.watch != nil } }
}

/// Somebody whom the system tells of the network, until it is ended.
protocol NetworkWatch: Sendable {
    func end()
}
