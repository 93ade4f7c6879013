import Hummingbird
import PageServer
import Tandem
import TandemSync

/// The sync button, the automatic sync, and the decisions about conflicts.
extension WebRoutes {
    private struct Switch: Decodable {
        let isOn: Bool
    }

    private struct Decision: Decodable {
        let version: String
    }

    func addSync(to router: Router<WebContext>) {
        router.post("/sync") { _, _ in
            try state.wallet().sync.syncNow()
            return Response(status: .accepted)
        }
        router.post("/sync/automatic") { request, _ in
            let isOn = try await body(Switch.self, of: request).isOn
            try await state.wallet().sync.setAutomatic(isOn)
            return Response(status: .noContent)
        }
        router.post("/decisions/:choice") { request, context in
            let decision = try await body(Decision.self, of: request)
            try await decide(try context.parameters.require("choice"), about: decision.version)
            return Response(status: .noContent)
        }
    }

    private func decide(_ choice: String, about text: String) async throws {
        let wallet = try state.wallet()
        guard let context = wallet.sync.context else { throw WebFailure(.conflict, "No person is logged in.") }
        guard let version = ConflictView.version(text) else {
            throw WebFailure(.badRequest, "The decision is not valid.")
        }
        switch choice {
        case "mine": try await context.keepMine(version)
        case "theirs": try await context.takeServers(version)
        case "discard": try await context.discard(version)
        case "retry": try await context.retry(version)
        default: throw WebFailure(.notFound, "There is no such choice.")
        }
        if choice == "mine" || choice == "retry" { try wallet.sync.syncNow() }
    }
}
