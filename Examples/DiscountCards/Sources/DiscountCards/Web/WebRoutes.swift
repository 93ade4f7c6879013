import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PageServer
import Tandem

/// The addresses of a page server.
struct WebRoutes: Sendable {
    let state: WebState

    /// Returns a router with the guard in front of all handlers.
    func makeRouter() -> Router<WebContext> {
        let router = Router(context: WebContext.self)
        router.middlewares.add(WebGuard(state))
        addPages(to: router)
        addParts(to: router)
        addStreams(to: router)
        addCards(to: router)
        addPhotos(to: router)
        addSync(to: router)
        return router
    }

    // MARK: Pages

    private func addPages(to router: Router<WebContext>) {
        for path in ["/", "/new", "/sync", "/login", "/cards/:id", "/cards/:id/edit"] {
            router.get(RouterPath(path)) { _, context in try page(context) }
        }
        state.addSharedRoutes(to: router, formLimit: state.options.limits.form) { secret, gates in
            var passed = gates
            if !passed.contains(.password) {
                if let password = state.options.password, SecretText.isEqual(secret, password) {
                    passed.insert(.password)
                }
            } else if !passed.contains(.passphrase), try await state.unlock(secret) {
                passed.insert(.passphrase)
            }
            return passed != gates || passed == [.password, .passphrase] ? passed : nil
        }
    }

    private func page(_ context: WebContext) throws -> Response {
        struct Page {
            let token: String
            let person: String
            let store: String
            let canLock: Bool
        }
        let wallet = try state.wallet()
        let session = try context.requireSession()
        return state.html(
            try state.templates.render(
                "page",
                with: Page(
                    token: session.token.text, person: wallet.wallet.person.name, store: state.storeName,
                    canLock: state.isLockable || state.options.password != nil)))
    }
}

extension WebRoutes {
    /// Reads a JSON body.
    func body<Value: Decodable>(_ type: Value.Type, of request: Request) async throws -> Value {
        let bytes = try await request.body.collect(upTo: state.options.limits.form)
        return try JSONDecoder().decode(Value.self, from: Data(bytes.readableBytesView))
    }
}
