import NIOCore
import Synchronization

/// The connections with a current request, to close them at the end of the grace period. Others close at once.
final class OpenConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    func add(_ channel: any Channel) {
        let isLate = state.withLock { state in
            if !state.isClosed { state.channels[ObjectIdentifier(channel)] = channel }
            return state.isClosed
        }
        if isLate { channel.close(promise: nil) }
    }

    func remove(_ channel: any Channel) {
        state.withLock { _ = $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// Closes all connections, and those added later.
    func closeAll() {
        let channels = state.withLock { state in
            state.isClosed = true
            return state.channels.values.map { $0 }
        }
        for channel in channels { channel.close(promise: nil) }
    }
}
