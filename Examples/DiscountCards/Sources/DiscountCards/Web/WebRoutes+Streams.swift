import Hummingbird
import NIOCore
import PageServer
import ServiceLifecycle
import Tandem

/// The live list: its events, and the rows that a browser requests.
extension WebRoutes {
    /// The largest number of bytes of a search.
    static let longestSearch = 400

    func addStreams(to router: Router<WebContext>) {
        router.get("/events") { request, context in try events(request, in: context) }
        router.get("/rows") { request, context in
            guard let stream = try stream(of: request, in: context) else {
                throw WebFailure(.gone, message: "The stream has ended.")
            }
            let query = request.uri.queryParameters
            guard let from = query["from"].flatMap({ Int($0) }), let to = query["to"].flatMap({ Int($0) }),
                from >= 0, to >= from, to < Int(Int32.max)
            else { throw WebFailure(.badRequest, message: "The range is not valid.") }
            return try state.json(try await stream.rows(from..<to))
        }
    }

    private func events(_ request: Request, in context: WebContext) throws -> Response {
        let session = try context.requireSession()
        let query = request.uri.queryParameters
        let words = query["q"].map { String($0) } ?? ""
        guard words.utf8.count <= Self.longestSearch else {
            throw WebFailure(.badRequest, message: "The search is too long.")
        }
        let page = PageStream(
            try state.wallet(), session: session, words: words, part: Self.part(query["part"].map { String($0) }))
        guard let place = state.streams.add(page) else {
            throw WebFailure(.serviceUnavailable, message: "Too many pages are open.")
        }
        let (templates, limits, channel) = (state.templates, state.options.limits, context.channel)
        // A browser that does not read is noticed when the buffer is full.
        if let socket = channel as? any SocketOptionProvider {
            _ = socket.unsafeSetSocketOption(level: .socket, name: .so_sndbuf, value: CInt(limits.streamBuffer))
        }
        let body = ResponseBody { writer in
            defer { place.leave() }
            try await request.body.consumeWithInboundCloseHandler { _ in
                try await withGracefulShutdownHandler {
                    try await PageFeed.run(page, on: channel, limits: limits) { part, wallet in
                        try await Self.html(of: part, in: wallet, by: templates)
                    } write: { text in
                        try await writer.write(ByteBuffer(string: text))
                    }
                } onGracefulShutdown: {
                    Task { await page.inbox.close() }
                }
            } onInboundClosed: {
                Task { await page.inbox.close() }
            }
            try await writer.finish(nil)
            // An ended stream must not occupy a connection.
            channel.close(promise: nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }

    /// Parses the path of a part: `/cards/ID` or `/sync`.
    static func part(_ path: String?) -> PageStream.Part? {
        guard let path else { return nil }
        if path == "/sync" { return .sync }
        let parts = path.split(separator: "/")
        guard parts.count == 2, parts[0] == "cards" else { return nil }
        return .card(CardPath.id(in: parts[1]))
    }
}
