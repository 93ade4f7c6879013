import Foundation
import Tandem
import TandemTesting

@testable import TandemSync

/// A device and a scripted server.
struct SyncFixture: Sendable {
    let clock = ManualClock(Date(timeIntervalSince1970: 1_795_000_000))
    let remote: ScriptedRemote
    let store: Store
    let sync: SyncContext

    init(
        ids: ScriptedRemote.IDs = .client, softDelete: Bool = true, versions: Bool = true,
        undeletesWithValues: Bool = true, lookUp: String? = "localKey", reservedNames: Set<String> = [],
        traits: ScriptedRemote.Traits = [], batchLimit: Int = 1,
        _ options: (inout SyncContext.Options) -> Void = { _ in }
    ) throws {
        remote = ScriptedRemote(
            clock: ManualClock(clock.now()), ids: ids, softDelete: softDelete, versions: versions,
            undeletesWithValues: undeletesWithValues, reservedNames: reservedNames, traits: traits,
            batchLimit: batchLimit)
        var configuration = Store.Configuration()
        configuration.now = clock.now
        store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self], configuration: configuration)
        var all = SyncContext.Options()
        all.clock = JumpingClock(clock)
        all.random = { .max }
        options(&all)
        sync = SyncContext(store: store, remote: remote, options: all)
        var features = TableFeatures()
        (features.softDelete, features.versions) = (softDelete, versions)
        for table in [try sync.table(Person.self).erased, try sync.table(Card.self).erased] {
            table(features, ids == .server ? .server(lookUp: lookUp) : .client)
        }
    }

    /// Creates a second context on the same store, as after a restart.
    func restarted(_ options: (inout SyncContext.Options) -> Void = { _ in }) throws -> SyncContext {
        var all = SyncContext.Options()
        all.clock = JumpingClock(clock)
        options(&all)
        let context = SyncContext(store: store, remote: remote, options: all)
        for (name, from) in [("Person", sync), ("Card", sync)] {
            let settings = try from.settings(of: name)
            if name == "Card" {
                try context.table(Card.self).erased(settings.features, settings.identity)
            } else {
                try context.table(Person.self).erased(settings.features, settings.identity)
            }
        }
        return context
    }

    /// Inserts a card and synchronizes it.
    func syncedCard(_ code: String = "1") async throws -> Card {
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: code, points: 1)) }.localID
        try await sync.push()
        remote.forgetRequests()
        guard let card = try card(id), card.isSynced else { throw NotSynced() }
        return card
    }

    struct NotSynced: Error {}

    func card(_ id: LocalID) throws -> Card? { try store.object(ofType: Card.self, forPrimaryKey: id) }

    /// Returns the server's item of a card.
    func served(_ id: ServerID?) throws -> RemoteItem? {
        remote.all(in: "Card").first { $0.id == id }
    }

    /// The requests' kinds.
    var asked: [RecordedRequest.Kind] { remote.requests.map(\.kind) }

    var operation: PendingOperation? { get throws { try store.operations.all().first } }

    /// Pulls the server's items of a table.
    func receiveAll(_ table: String = "Card") async throws {
        let settings = try sync.settings(of: table)
        let forms = sync.coder(of: settings)
        for item in remote.all(in: forms.table) {
            let stored = try forms.decode(item)
            _ = try await store.write { (tx: WriteTransaction) in
                try tx.sync.applyServerItem(stored, in: table, identity: settings.identity(of: item))
            }
        }
    }

    /// Returns whether the device and the server have the same content, and nothing is left to send.
    func isLevel() throws -> Bool {
        guard try store.operations.count() == 0, try store.checkIntegrity() == [] else { return false }
        let here = try store.objects(Card.self).all()
        let there = remote.items(in: "Card")
        guard here.count == there.count, here.allSatisfy(\.isSynced) else { return false }
        return here.allSatisfy { card in
            guard let item = there.first(where: { $0.id == card.serverID }), item.version == card.version else {
                return false
            }
            let nickname: JSONNode = card.nickname.map { .text($0) } ?? .null
            return item[member: "shop"] == .text(card.shop) && item[member: "barcode"] == .text(card.barcode)
                && item[member: "points"] == .integer(Int64(card.points)) && item[member: "nickname"] == nickname
        }
    }
}

extension SyncTable {
    /// Configures a table without naming its model.
    fileprivate var erased: (TableFeatures, IdentityPolicy) -> Void {
        { features, identity in
            setFeatures(features)
            setIdentity(identity)
        }
    }
}

extension RemoteFailure {
    struct Broken: Error {}
    static let unreachable = RemoteFailure.notSent(Broken())
}
