import Hummingbird
import PageServer
import Tandem

/// Adding, changing, deleting and restoring cards.
extension WebRoutes {
    private struct Saved: Encodable {
        let id: String
    }

    private struct Deleted: Encodable {
        let undo: String
        let shop: String
    }

    private struct Starred: Encodable {
        let isStarred: Bool
    }

    func addCards(to router: Router<WebContext>) {
        router.post("/cards") { request, _ in
            let input = try await body(CardInput.self, of: request).checked()
            let card = try await state.wallet().save(input, as: nil)
            return try state.json(Saved(id: card.localID.rawValue), status: .created)
        }
        router.post("/cards/:id") { request, context in
            let id = try context.requireCardID()
            let input = try await body(CardInput.self, of: request).checked()
            let card = try await state.wallet().save(input, as: id)
            return try state.json(Saved(id: card.localID.rawValue))
        }
        router.post("/cards/:id/star") { _, context in
            let isStarred = try await state.wallet().toggleStar(on: try context.requireCardID())
            return try state.json(Starred(isStarred: isStarred))
        }
        router.delete("/cards/:id") { _, context in
            let wallet = try state.wallet()
            let card = try await wallet.card(try context.requireCardID())
            let token = try await wallet.deleted.delete(card, in: wallet.store)
            return try state.json(Deleted(undo: token, shop: card.shop))
        }
        router.post("/undo/:token") { _, context in
            let wallet = try state.wallet()
            let card = try await wallet.deleted.undo(try context.parameters.require("token"), in: wallet.store)
            return try state.json(Saved(id: card.localID.rawValue))
        }
    }
}
