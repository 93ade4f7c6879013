import DatasyncWire
import Foundation
import Synchronization
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting

/// A device: a store that outlives its process, and a process that may be killed.
final class SimDevice: Sendable {
    let number: Int
    let store: Store
    private let running: Mutex<(context: SyncContext, life: SimLife)>
    private let start: @Sendable (Store, SimLife) throws -> SyncContext

    init(_ number: Int, _ store: Store, start: @escaping @Sendable (Store, SimLife) throws -> SyncContext) throws {
        self.number = number
        self.store = store
        self.start = start
        let life = SimLife()
        running = Mutex((try start(store, life), life))
    }

    var context: SyncContext { running.withLock { $0.context } }
    var life: SimLife { running.withLock { $0.life } }

    /// A new process, where the last one was killed.
    func restartIfDead() throws {
        try running.withLock { running in
            running.life.spare()
            guard running.life.isDead else { return }
            let life = SimLife()
            running = (try start(store, life), life)
        }
    }

    /// What is live here, by tags.
    func tags() throws -> [(tag: String, model: String, localID: LocalID)] {
        try store.objects(Item.self).all().map { ($0.tag, "Item", $0.localID) }
            + store.objects(Owner.self).all().map { ($0.tag, "Owner", $0.localID) }
    }

    /// The tags of what refers to an object.
    func holders(of localID: LocalID) throws -> [String] {
        try store.objects(Item.self).all()
            .filter { $0.owner?.localID == localID || $0.twin?.localID == localID }.map(\.tag)
            + store.objects(Owner.self).all()
            .filter { owner in
                owner.friend?.localID == localID || owner.items.contains { $0.localID == localID }
            }.map(\.tag)
    }

    /// The tag of an operation's object, deleted or not.
    func tag(of operation: Tandem.Operation) throws -> String? {
        try store.read { tx in
            try operation.model == "Item"
                ? tx.objects(Item.self).includingDeleted().where { $0.localID == operation.localID }.first()?.tag
                : tx.objects(Owner.self).includingDeleted().where { $0.localID == operation.localID }.first()?.tag
        }
    }
}
