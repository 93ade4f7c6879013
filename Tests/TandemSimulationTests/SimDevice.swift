import DatasyncWire
import Foundation
import OpenCombine
import Synchronization
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting

/// A device: a store that outlives its process, and a process that may be killed.
final class SimDevice: Sendable {
    let number: Int
    let store: Store
    let live: SimLive
    private let running: Mutex<(context: SyncContext, life: SimLife)>
    /// Whether a purge is running. The user then makes no changes.
    private let isPurging = Mutex(false)
    private let start: @Sendable (Store, SimLife) throws -> SyncContext

    init(_ number: Int, _ store: Store, start: @escaping @Sendable (Store, SimLife) throws -> SyncContext) throws {
        self.number = number
        self.store = store
        self.start = start
        live = SimLive(store)
        let life = SimLife()
        running = Mutex((try start(store, life), life))
    }

    var context: SyncContext { running.withLock { $0.context } }
    var life: SimLife { running.withLock { $0.life } }

    var isBusyPurging: Bool {
        get { isPurging.withLock { $0 } }
        set { isPurging.withLock { $0 = newValue } }
    }

    /// Starts a new process if the last one was killed.
    func restartIfDead() throws {
        try running.withLock { running in
            guard running.life.isDead else { return }
            let life = SimLife()
            running = (try start(store, life), life)
        }
    }

    /// Returns the live objects by their tags.
    func tags() throws -> [(tag: String, model: String, localID: LocalID)] {
        try store.objects(Item.self).all().map { ($0.tag, "Item", $0.localID) }
            + store.objects(Owner.self).all().map { ($0.tag, "Owner", $0.localID) }
    }

    /// Returns the tags of the objects that refer to an object.
    func holders(of localID: LocalID) throws -> [String] {
        try store.objects(Item.self).all()
            .filter { $0.owner?.localID == localID || $0.twin?.localID == localID }.map(\.tag)
            + store.objects(Owner.self).all()
            .filter { owner in
                owner.friend?.localID == localID || owner.items.contains { $0.localID == localID }
            }.map(\.tag)
    }

    /// Returns the tag of an object, deleted or not.
    func tag(of localID: LocalID, in table: String) throws -> String? {
        try store.readHere { tx in
            try table == Item.__definition.table
                ? tx.objects(Item.self).includingDeleted().where { $0.localID == localID }.first()?.tag
                : tx.objects(Owner.self).includingDeleted().where { $0.localID == localID }.first()?.tag
        }
    }

    func tag(of operation: PendingOperation) throws -> String? {
        try tag(of: operation.localID, in: operation.table)
    }
}

/// The display of an app that observes a device's store. It must equal the store's content.
final class SimLive: Sendable {
    private let shown = Mutex<(items: [Item], owners: [Owner])>(([], []))
    /// Set once, before the object is shared. It keeps the subscriptions alive until they are released.
    nonisolated(unsafe) private var subscriptions: [AnyCancellable] = []

    init(_ store: Store) {
        let items = Self.items(store).collectionPublisher.on(.immediate)
            .sink(receiveCompletion: { _ in }) { [weak self] value in self?.shown.withLock { $0.items = Array(value) } }
        let owners = Self.owners(store).collectionPublisher.on(.immediate)
            .sink(receiveCompletion: { _ in }) { [weak self] value in self?.shown.withLock { $0.owners = Array(value) }
            }
        subscriptions = [items, owners]
    }

    private static func items(_ store: Store) -> Results<Item> {
        store.objects(Item.self).where { $0.points > 2 }.sorted(by: \.title)
    }

    private static func owners(_ store: Store) -> Results<Owner> { store.objects(Owner.self).sorted(by: \.name) }

    /// Returns a difference between the display and the store.
    func problem(in store: Store) throws -> String? {
        let (items, owners) = shown.withLock { $0 }
        let (freshItems, freshOwners) = (try Self.items(store).all(), try Self.owners(store).all())
        let (shown, fresh) = ("\(items) \(owners)", "\(freshItems) \(freshOwners)")
        return shown == fresh ? nil : "the app shows \(shown), the store has \(fresh)"
    }
}
