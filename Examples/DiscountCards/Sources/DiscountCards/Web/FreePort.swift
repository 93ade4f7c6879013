import NIOCore
import NIOPosix

/// The search for a port on which no other server listens.
enum FreePort {
    /// The ports of page servers. Several servers on one machine are several devices.
    static let usual = 8090..<8110

    /// Returns the first free port of a range, or the first port if none is free.
    static func first(of ports: Range<Int>, on host: String) async -> Int {
        for port in ports {
            let server = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            guard let channel = try? await server.bind(host: host, port: port).get() else { continue }
            try? await channel.close().get()
            return port
        }
        return ports.lowerBound
    }
}
