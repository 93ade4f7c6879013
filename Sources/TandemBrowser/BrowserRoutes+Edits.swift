import Foundation
import Hummingbird
import PageServer
import Tandem
import TandemInspector

/// The changes of objects. Without `--write`, all are refused.
extension BrowserRoutes {
    func addEdits(to router: Router<WebContext>) {
        let editor = StoreEditor(store: site.store, limits: site.limits)
        add("/edit/update", to: router) { try await editor.update($0) }
        add("/edit/insert", to: router) { try await editor.insert($0) }
        add("/edit/delete", to: router) { try await editor.delete($0) }
        add("/edit/restore", to: router) { try await editor.restore($0) }
        router.post("/undo/:token") { _, context in
            try requireWritable()
            let token = try context.parameters.require("token")
            guard let undo = site.undo.remove(token) else {
                throw WebFailure(.gone, message: "This can't be undone any more.")
            }
            do {
                let object = try await editor.revert(undo)
                site.revisions.advance()
                return site.json(Self.json(of: object, token: nil))
            } catch {
                // The user can remove the obstacle, and try again.
                site.undo.add(undo, token: token)
                throw error
            }
        }
    }

    private func add(
        _ path: RouterPath, to router: Router<WebContext>,
        edit: @escaping @Sendable (EditRequest) async throws -> Undo?
    ) {
        router.post(path) { request, _ in
            try requireWritable()
            let body = try await request.body.collect(upTo: site.limits.body)
            let edited = try JSONDecoder().decode(EditRequest.self, from: Data(body.readableBytesView))
            guard let undo = try await edit(edited) else {
                site.revisions.advance()
                return site.json(.object([("model", .text(edited.model)), ("id", JSONOutput(edited.id))]))
            }
            site.revisions.advance()
            return site.json(Self.json(of: undo.object, token: site.undo.add(undo)))
        }
    }

    private func requireWritable() throws {
        guard site.request.isWritable else {
            throw WebFailure(.forbidden, message: "The store is open for reading. Start `tandem browse` with --write.")
        }
    }

    private static func json(of object: DynamicObject, token: String?) -> JSONOutput {
        .object([
            ("model", .text(object.model.name)), ("id", .text(object.localID.rawValue)),
            ("title", .text(object.title)), ("undo", JSONOutput(token)),
        ])
    }
}
