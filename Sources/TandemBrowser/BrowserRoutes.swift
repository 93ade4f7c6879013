import Hummingbird
import PageServer
import Tandem
import TandemInspector

/// The addresses of the pages.
struct BrowserRoutes: Sendable {
    let site: BrowserSite

    /// Returns a router with the guard in front of all handlers.
    func makeRouter() -> Router<WebContext> {
        let router = Router(context: WebContext.self)
        router.middlewares.add(WebGuard(site))
        addPages(to: router)
        addData(to: router)
        addFiles(to: router)
        addStreams(to: router)
        addEdits(to: router)
        return router
    }

    // MARK: Pages

    private func addPages(to router: Router<WebContext>) {
        router.get("/") { _, context in try page(context) }
        site.addSharedRoutes(to: router, formLimit: site.limits.body) { secret, _ in
            if let password = site.request.password, !SecretText.isEqual(secret, password) { return nil }
            return [.password, .passphrase]
        }
    }

    private func page(_ context: WebContext) throws -> Response {
        struct Page {
            let token: String
            let store: String
            let isWritable: Bool
            let canLeave: Bool
        }
        let page = Page(
            token: try context.requireSession().token.text, store: site.storeName,
            isWritable: site.request.isWritable, canLeave: site.request.password != nil)
        return site.html(try site.templates.render("page", with: page))
    }
}
