import NIOCore
import NIOHTTPTypes
import Synchronization

/// The open connections, to close them at the end of the grace period.
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

/// Registers a connection while it is open.
final class ConnectionWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart

    private let connections: OpenConnections

    init(_ connections: OpenConnections) {
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) { connections.add(context.channel) }

    func handlerRemoved(context: ChannelHandlerContext) { connections.remove(context.channel) }
}
