import Hummingbird
import PageServer
import Tandem
import TandemSync

/// The login, the sync button, the automatic sync, and the decisions about conflicts.
extension WebRoutes {
    private struct Switch: Decodable {
        let isOn: Bool
    }

    private struct Decision: Decodable {
        let version: String
        /// The chosen sides by the properties' names, of a decision by property.
        let choices: [String: String]?
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
        router.post("/login") { request, _ in
            let login = try await body(LoginInput.self, of: request).checked()
            try await state.wallet().logIn(login)
            return Response(status: .noContent)
        }
        router.post("/decisions/:choice") { request, context in
            let decision = try await body(Decision.self, of: request)
            try await decide(try context.parameters.require("choice"), by: decision)
            return Response(status: .noContent)
        }
    }

    private func decide(_ choice: String, by decision: Decision) async throws {
        let wallet = try state.wallet()
        guard let context = wallet.sync.context else { throw WebFailure(.conflict, message: "No person is logged in.") }
        guard let version = ConflictView.version(decision.version) else {
            throw WebFailure(.badRequest, message: "The decision is not valid.")
        }
        switch choice {
        case "mine": try await context.keepMine(version)
        case "theirs": try await context.takeServers(version)
        case "choose": try await context.resolve(version, choosing: try Self.choices(of: decision))
        case "discard": try await context.discard(version)
        case "retry": try await context.retry(version)
        default: throw WebFailure(.notFound, message: "There is no such choice.")
        }
        if ["mine", "choose", "retry"].contains(choice) { try wallet.sync.syncNow() }
    }

    private static func choices(of decision: Decision) throws -> [String: PropertyChoice] {
        try (decision.choices ?? [:]).reduce(into: [:]) { choices, entry in
            guard ConflictView.isChoosable(entry.key), let choice = PropertyChoice(rawValue: entry.value) else {
                throw WebFailure(.badRequest, message: "The decision is not valid.")
            }
            choices[entry.key] = choice
        }
    }
}
