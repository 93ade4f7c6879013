import Foundation
import Tandem
import TandemKinto
import TandemSync

/// Commands for notes that are shared between users.
///
/// | command | effect |
/// | --- | --- |
/// | `principal` | prints `principal ID` for the current user |
/// | `share TAG PRINCIPAL PERMISSION` | lets another user read or write a note |
/// | `unshare TAG PRINCIPAL` | withdraws the permissions |
/// | `permissions TAG` | prints `readers ID…` and `writers ID…` |
/// | `attempt` | synchronizes once, and prints `refused JSON`, `lost TAG` and `unpulled MESSAGE` |
/// | `retry`, `discard` | sends all refused operations again with the next sync, or takes the server's values |
struct SharingCommands {
    private struct Refusal: Encodable {
        let tag: String
        let status: Int?
        let message: String
    }

    let store: Store
    let context: SyncContext
    let remote: KintoRemote

    /// Runs a command.
    ///
    /// - Returns: `false` if there is no such command.
    func run(_ words: [String]) async throws -> Bool {
        switch (words.first, words.count) {
        case ("principal", 1): KintoPeerMain.say("principal \(try await remote.principal())")
        case ("share", 4):
            guard let permission = KintoPermission(rawValue: words[3]) else {
                throw PeerFailure("no permission: \(words[3])")
            }
            try await remote.share(try note(words[1]), with: KintoPrincipal(rawValue: words[2]), for: permission)
        case ("unshare", 3):
            try await remote.unshare(try note(words[1]), from: KintoPrincipal(rawValue: words[2]))
        case ("permissions", 2):
            let permissions = try await remote.permissions(of: try note(words[1]))
            for (name, users) in [("readers", permissions.readers), ("writers", permissions.writers)] {
                KintoPeerMain.say("\(name) \(users.map(\.rawValue).sorted().joined(separator: " "))")
            }
        case ("attempt", 1): try await attempt()
        case ("retry", 1):
            for failed in try await context.failedOperations() { try await context.retry(failed.version) }
        case ("discard", 1):
            for failed in try await context.failedOperations() { _ = try await context.discard(failed.version) }
        default: return false
        }
        return true
    }

    private func note(_ tag: String) throws -> KintoNote {
        try store.read { try $0.note(tag) }
    }

    private func attempt() async throws {
        let result = try await context.synchronize()
        for edit in result.lostEdits {
            KintoPeerMain.say("lost \(edit.of(KintoNote.self)?.tag ?? "\(edit.localID)")")
        }
        for pull in result.pulls {
            if case .failure(let error) = pull.outcome { KintoPeerMain.say("unpulled \(error.message)") }
        }
        for failed in try await context.failedOperations() {
            let id = failed.operation.localID
            let tag = try await store.read { try $0.object(ofType: KintoNote.self, forPrimaryKey: id)?.tag }
            try KintoPeerMain.say(
                "refused", Refusal(tag: tag ?? "", status: failed.status, message: failed.message))
        }
    }
}

extension ReadTransaction {
    /// Returns the note with a tag.
    func note(_ tag: String) throws -> KintoNote {
        guard let note = try objects(KintoNote.self).where({ $0.tag == tag }).first() else {
            throw PeerFailure("no note \(tag)")
        }
        return note
    }
}
