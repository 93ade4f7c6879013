import NIOCore
import NIOHTTPTypes
import Synchronization

/// The connections that are open, to close them when their time is over.
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

    /// Closes all, and those that come later.
    func closeAll() {
        let channels = state.withLock { state in
            state.isClosed = true
            return state.channels.values.map { $0 }
        }
        for channel in channels { channel.close(promise: nil) }
    }
}

/// Tells of a connection while it is open.
final class ConnectionWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart

    private let connections: OpenConnections

    init(_ connections: OpenConnections) {
        self.connections = connections
    }

    func handlerAdded(context: ChannelHandlerContext) { connections.add(context.channel) }

    func handlerRemoved(context: ChannelHandlerContext) { connections.remove(context.channel) }
}
