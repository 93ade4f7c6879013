import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server that writes prepared bytes, valid HTTP or not, and records its requests.
final class RawServer: Sendable {
    enum Step: Sendable {
        case write([UInt8])
        /// The same bytes repeatedly, as fast as the client accepts them.
        case flood([UInt8], times: Int)
        /// A byte every twenty milliseconds, without end.
        case drip
        /// TLS from here on, as after a proxy's response to `CONNECT`.
        case startTLS(NIOSSLContext)
        case close

        static func text(_ text: String) -> Step { .write(Array(text.utf8)) }
    }

    /// Returns the steps for a complete request. Numbers count from 0.
    typealias Script = @Sendable (_ request: String, _ number: Int) -> [Step]

    private struct State {
        var requests: [String] = []
        var connections = 0
        var written = 0
        var channels: [any Channel] = []
    }

    private let state = Mutex(State())
    private let script: Script
    fileprivate let greeting: String
    private let listener = Mutex<(any Channel)?>(nil)

    /// Runs a body with a server on a port of this machine, and closes it and its connections afterwards.
    ///
    /// - Parameter greeting: The bytes written before any request.
    static func run<T>(
        tls: NIOSSLContext? = nil, greeting: String = "", _ script: @escaping Script,
        _ body: (RawServer) async throws -> T
    ) async throws -> T {
        let server = RawServer(script, greeting: greeting)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    server.state.withLock { state in
                        state.connections += 1
                        state.channels.append(channel)
                    }
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Conversation(server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.listener.withLock { $0 = listener }
        do {
            let result = try await body(server)
            try await server.close()
            return result
        } catch {
            try await server.close()
            throw error
        }
    }

    private init(_ script: @escaping Script, greeting: String) {
        self.script = script
        self.greeting = greeting
    }

    private func close() async throws {
        try await listener.withLock { $0 }?.close()
        for channel in state.withLock({ $0.channels }) { try? await channel.close() }
    }

    var port: Int { listener.withLock { $0?.localAddress?.port } ?? 0 }
    var url: URL { URL(string: "http://127.0.0.1:\(port)")! }
    /// The requests with heads and bodies.
    var requests: [String] { state.withLock { $0.requests } }
    /// The number of accepted connections.
    var connections: Int { state.withLock { $0.connections } }
    /// The number of a flood's bytes that the client, or its system, has accepted.
    var written: Int { state.withLock { $0.written } }
    /// The number of open connections.
    var open: Int { state.withLock { $0.channels.filter(\.isActive).count } }

    fileprivate func note(_ request: String) -> [Step] {
        let number = state.withLock { state in
            state.requests.append(request)
            return state.requests.count - 1
        }
        return script(request, number)
    }

    fileprivate func noteWritten(_ count: Int) { state.withLock { $0.written += count } }
}

/// A connection, which collects requests and runs the script's steps for each.
private final class Conversation: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: RawServer
    private var received: [UInt8] = []

    init(_ server: RawServer) {
        self.server = server
    }

    func channelActive(context: ChannelHandlerContext) {
        guard !server.greeting.isEmpty else { return }
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: server.greeting)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += Self.unwrapInboundIn(data).readableBytesView
        while let request = nextRequest() { perform(server.note(request)[...], on: context.channel) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// Removes a complete request from the received bytes.
    private func nextRequest() -> String? {
        let text = String(decoding: received, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let head = text[..<end.lowerBound].lowercased()
        let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
        let count = text[..<end.upperBound].utf8.count + (length ?? 0)
        guard received.count >= count else { return nil }
        let request = String(decoding: received[..<count], as: UTF8.self)
        received.removeFirst(count)
        return request
    }

    private func perform(_ steps: ArraySlice<RawServer.Step>, on channel: any Channel) {
        guard let step = steps.first else { return }
        switch step {
        case .write(let bytes):
            channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
            perform(steps.dropFirst(), on: channel)
        case .flood(let bytes, let times):
            flood(ByteBuffer(bytes: bytes), times, steps.dropFirst(), on: channel)
        case .drip:
            let drip = channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(20)) { _ in
                channel.writeAndFlush(ByteBuffer(string: " "), promise: nil)
            }
            channel.closeFuture.whenComplete { _ in drip.cancel() }
        case .startTLS(let context):
            do {
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context), position: .first)
                perform(steps.dropFirst(), on: channel)
            } catch {
                channel.close(promise: nil)
            }
        case .close:
            channel.close(promise: nil)
        }
    }

    private func flood(_ bytes: ByteBuffer, _ times: Int, _ rest: ArraySlice<RawServer.Step>, on channel: any Channel) {
        guard times > 0 else { return perform(rest, on: channel) }
        let server = server
        let next = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.writeAndFlush(bytes).whenSuccess {
            server.noteWritten(bytes.readableBytes)
            // Not from inside the write, whose completion may come at once.
            channel.eventLoop.execute { next.value.flood(bytes, times - 1, rest, on: channel) }
        }
    }
}
