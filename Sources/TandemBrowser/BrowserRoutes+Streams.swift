import Hummingbird
import NIOCore
import PageServer
import ServiceLifecycle

/// The live events.
extension BrowserRoutes {
    func addStreams(to router: Router<WebContext>) {
        router.get("/events") { request, context in try events(request, in: context) }
    }

    private func events(_ request: Request, in context: WebContext) throws -> Response {
        let (revisions, limits, channel) = (site.revisions, site.limits, context.channel)
        guard let (id, numbers) = revisions.listen(try context.requireSession()) else {
            throw WebFailure(.serviceUnavailable, message: "Too many pages are open.")
        }
        // A browser that does not read is noticed when the buffer is full.
        if let socket = channel as? any SocketOptionProvider {
            _ = socket.unsafeSetSocketOption(level: .socket, name: .so_sndbuf, value: CInt(limits.streamBuffer))
        }
        let body = ResponseBody { writer in
            defer { revisions.end(id) }
            try await request.body.consumeWithInboundCloseHandler { _ in
                try await withGracefulShutdownHandler {
                    try await EventFeed.run(id, numbers: numbers, of: revisions, on: channel, limits: limits) { text in
                        try await writer.write(ByteBuffer(string: text))
                    }
                } onGracefulShutdown: {
                    revisions.end(id)
                }
            } onInboundClosed: {
                revisions.end(id)
            }
            try await writer.finish(nil)
            // An ended stream must not occupy a connection.
            channel.close(promise: nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }
}
