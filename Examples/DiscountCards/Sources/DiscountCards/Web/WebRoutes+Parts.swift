import HTTPTypes
import Hummingbird
import PageServer
import Tandem

/// The parts of the page beside the list, as HTML.
extension WebRoutes {
    /// The header with the number of a part's content: see ``PageStream/Shown``.
    private static let partNumber = HTTPField.Name("X-Cards-Part")!

    func addParts(to router: Router<WebContext>) {
        router.get("/parts/cards/:id") { request, context in
            let id = try context.requireCardID()
            return try await part(.card(id), for: request, in: context)
        }
        router.get("/parts/sync") { request, context in try await part(.sync, for: request, in: context) }
        router.get("/parts/cards/:id/edit") { request, context in
            let wallet = try state.wallet()
            let card = try await wallet.card(try context.requireCardID())
            return try await form(card, for: request, in: context)
        }
        router.get("/parts/login") { request, context in
            try await stream(of: request, in: context)?.show(nil, html: nil)
            return state.html(try state.templates.render("login", with: try LoginForm(state.wallet())))
        }
        router.get("/parts/new") { request, context in try await form(nil, for: request, in: context) }
        router.get("/parts/none") { request, context in
            try await stream(of: request, in: context)?.show(nil, html: nil)
            return Response(status: .noContent)
        }
    }

    private func part(_ part: PageStream.Part, for request: Request, in context: WebContext) async throws -> Response {
        let html = try await Self.html(of: part, in: state.wallet(), by: state.templates)
        let number = try await stream(of: request, in: context)?.show(part, html: html)
        guard let html else { throw WebFailure.missingCard }
        var response = state.html(html)
        response.headers[Self.partNumber] = number.map { "\($0)" }
        return response
    }

    private func form(_ card: Card?, for request: Request, in context: WebContext) async throws -> Response {
        // The server does not replace a form while a person fills it in.
        try await stream(of: request, in: context)?.show(nil, html: nil)
        return state.html(try state.templates.render("form", with: try await CardForm(card, in: state.wallet())))
    }

    /// Returns the stream that a request names, if it belongs to the session.
    func stream(of request: Request, in context: WebContext) throws -> PageStream? {
        guard let id = request.uri.queryParameters["stream"] else { return nil }
        return state.streams.stream(String(id), of: try context.requireSession())
    }

    /// Returns the HTML of a part; `nil` if its card does not exist.
    static func html(
        of part: PageStream.Part, in wallet: WebWallet, by templates: Templates
    ) async throws -> String? {
        switch part {
        case .card(let id):
            do {
                return try templates.render(
                    "card", with: try await CardView(try await wallet.card(id), in: wallet))
            } catch let failure as WebFailure where failure.status == .notFound {
                return nil
            }
        case .sync:
            return try templates.render("sync", with: try await QueueView(wallet))
        }
    }
}
