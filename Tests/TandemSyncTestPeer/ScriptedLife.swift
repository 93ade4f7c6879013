import Foundation
import Tandem
import TandemSync
import TandemSyncTestScript

/// A life of a peer that executes given steps.
struct ScriptedLife {
    private let store: Store
    private let context: SyncContext

    init(_ store: Store, _ line: SyncPeer.Line) throws {
        self.store = store
        context = try line.context(store)
    }

    /// - Parameter steps: `add:tag:title`, `edit:tag:title`, `sync`, `list`, and `wait`, which waits to be killed.
    func play(_ steps: some Sequence<String>) async throws {
        for step in steps {
            let words = step.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            switch (words[0], words.count) {
            case ("add", 3):
                try await store.write { _ = try $0.insert(ToDo(tag: words[1], title: words[2])) }
                SyncPeerMain.say("added \(words[1])")
            case ("edit", 3):
                try await store.write { tx in
                    guard let todo = try tx.objects(ToDo.self).where({ $0.tag == words[1] }).first() else { return }
                    try tx.update(ToDo.self, localID: todo.localID) { $0.title = words[2] }
                }
                SyncPeerMain.say("edited \(words[1])")
            case ("sync", 1): await synchronize()
            case ("list", 1): try await list()
            case ("wait", 1):
                SyncPeerMain.say("waiting")
                while true { try await Task.sleep(for: .seconds(1)) }
            default: SyncPeerMain.say("error unknown step \(step)")
            }
        }
    }

    private func synchronize() async {
        do {
            let result = try await context.synchronize()
            SyncPeerMain.say(result.isComplete ? "sync complete" : "sync incomplete")
        } catch let error as SyncError {
            SyncPeerMain.say("sync failed: \(error.code)")
        } catch {
            SyncPeerMain.say("error \(error)")
        }
    }

    private func list() async throws {
        for todo in try await store.objects(ToDo.self).sorted(by: \.tag).all() {
            let state =
                switch try await context.state(of: todo) {
                case .pending(let kind)?: "pending \(kind)"
                case let state?: "\(state)"
                case nil: "gone"
                }
            SyncPeerMain.say("has \(todo.tag): \(todo.title), \(state)")
        }
        SyncPeerMain.say("listed")
    }
}
