import DatasyncWire
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The owner of a store's data. The next user does not see or send the last user's data.
@Suite(.ownThreads) struct OwnerTests {
    @Model struct Kept {
        var name = ""
    }

    @Model struct Keeper {
        @OnDelete(.deny) var kept: Reference<Kept>?
    }

    @Test func `the first user becomes the owner`() async throws {
        let world = try SyncWorld()
        let (store, _) = try world.device()
        let context = SyncContext(store: store, remote: world.remote(), user: "anna")
        #expect(try await context.owner == nil)
        try await context.withExclusiveSync {}
        #expect(try await context.owner == "anna")
        try await context.withExclusiveSync {}
    }

    @Test(arguments: ["boris", nil] as [String?])
    func `another user is refused`(user: String?) async throws {
        let world = try SyncWorld()
        let (store, _) = try world.device()
        try await SyncContext(store: store, remote: world.remote(), user: "anna").withExclusiveSync {}
        let other = SyncContext(store: store, remote: world.remote(), user: user)
        await #expect { try await other.withExclusiveSync {} } throws: { ($0 as? SyncError)?.code == .otherUser }
        #expect(try await other.owner == "anna" && world.requests.isEmpty)
    }

    @Test func `the next user sees nothing of the last user's data`() async throws {
        let world = try SyncWorld()
        let (store, _) = try world.device()
        let anna = SyncContext(store: store, remote: world.remote(), user: "anna")
        let (sent, ada) = try await store.write { tx in
            let ada = try tx.insert(Person(name: "Ада"))
            return (try tx.insert(Card(shop: "Лента", barcode: "1", owner: ada.reference)), ada)
        }
        try await anna.synchronize()
        try await store.write { tx in
            try tx.update(Card.self, localID: sent.localID) { $0.points = 5 }
            _ = try tx.delete(ada)
            _ = try tx.insert(Card(shop: "Магнит", barcode: "2"))
        }
        let before = world.requests.count
        let boris = SyncContext(store: store, remote: world.remote(), user: "boris")
        await #expect { try await boris.push() } throws: { ($0 as? SyncError)?.code == .otherUser }
        #expect(try await boris.status().lastError?.contains("another user") == true)
        try await boris.adopt(.purge)
        #expect(try await boris.owner == "boris" && world.requests.count == before)
        #expect(try await store.objects(Card.self).count() == 0)
        #expect(try await store.objects(Person.self).count() == 0)
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
        await #expect { try await anna.pull(Card.self) } throws: { ($0 as? SyncError)?.code == .otherUser }
        // Everything is fetched again, and none of the other user's changes was sent.
        try await boris.synchronize()
        #expect(try await store.objects(Card.self).all().map(\.points) == [0])
        #expect(try await store.objects(Person.self).count() == 1)
    }

    /// Unsent objects of two models, of which one denies the delete of the other.
    @Test(arguments: [[Kept.self, Keeper.self], [Keeper.self, Kept.self]] as [[any Model.Type]])
    func `an object that denies the removal of others is removed too`(models: [any Model.Type]) async throws {
        let store = try Store(inMemoryModels: models)
        try await store.write { tx in
            let kept = try tx.insert(Kept())
            try tx.insert(Keeper(kept: kept.reference))
        }
        let context = SyncContext(store: store, remote: ScriptedRemote(), user: "boris")
        await #expect { try await context.purge(Kept.self, force: true) } throws: {
            ($0 as? TandemError)?.code == .deleteDenied
        }
        #expect(try await store.objects(Kept.self).count() == 1 && store.operations.count() == 2)
        try await context.adopt(.purge)
        #expect(try await store.objects(Kept.self).count() == 0)
        #expect(try await store.objects(Keeper.self).count() == 0)
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
    }

    @Test func `kept changes are sent as the next user's`() async throws {
        let world = try SyncWorld()
        let (store, _) = try world.device()
        let anna = SyncContext(store: store, remote: world.remote(), user: "anna")
        try await store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        try await anna.synchronize()
        try await store.write { _ = try $0.insert(Card(shop: "Магнит", barcode: "2")) }
        let boris = SyncContext(store: store, remote: world.remote(), user: "boris")
        try await boris.adopt(.keep)
        #expect(try await store.objects(Card.self).count() == 2)
        let result = try await boris.synchronize()
        #expect(result.isComplete && result.entries.count == 1)
        #expect(try world.server.rows(in: "card").count == 2)
    }

    /// Returns a context for a server at an address, with or without a name.
    private func context(
        _ store: Store, _ world: SyncWorld, at address: String, named name: String?
    ) throws -> SyncContext {
        var options = SyncContext.Options()
        options.serverName = name
        let remote = DatasyncRemote(try #require(ServerAddress(address)), dialect: .datasync, over: world.transport)
        return SyncContext(store: store, remote: remote, options: options)
    }

    @Test(arguments: [nil, "production"])
    func `another address of the same server stops no sync`(name: String?) async throws {
        let world = try SyncWorld()
        let (store, _) = try world.device()
        for (number, address) in [
            "http://shop.example", "https://shop.example", "https://shop.example:8443", "https://cards.example",
        ].enumerated() {
            let sync = try context(store, world, at: address, named: name)
            try await store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "\(number)")) }
            #expect(try await sync.synchronize().isComplete)
            #expect(try world.server.rows(in: "card").count == number + 1)
            #expect(try await sync.server == name)
        }
    }

    @Test func `a server with another name is refused until the app adopts the data`() async throws {
        let world = try SyncWorld()
        let (store, _) = try world.device()
        // Data synced without a name takes the first name that is given.
        _ = try await context(store, world, at: "https://a.example", named: nil).synchronize()
        _ = try await context(store, world, at: "https://a.example", named: "production").synchronize()
        let staging = try context(store, world, at: "https://a.example", named: "staging")
        world.forgetRequests()
        await #expect { try await staging.synchronize() } throws: { ($0 as? SyncError)?.code == .otherServer }
        #expect(world.requests.isEmpty)
        #expect(try await staging.server == "production")
        // A context without a name accepts any name.
        _ = try await context(store, world, at: "https://b.example", named: nil).synchronize()
        try await staging.adopt(.keep)
        #expect(try await staging.synchronize().isComplete)
        #expect(try await staging.server == "staging")
    }

    /// The data of such models belongs to a user too. If they were opened again, it would be sent or shown as another
    /// user's.
    @Test(arguments: [SyncContext.AdoptChoice.purge, .keep], ["unsent", "pulled", "pulled whole"])
    func `models that are not open prevent an adoption`(choice: SyncContext.AdoptChoice, state: String) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path(of: "a.tandem")
        let world = try SyncWorld()
        do {
            let store = try Store(at: path, models: [Person.self, Card.self, Pet.self])
            let anna = SyncContext(store: store, remote: world.remote(), user: "anna")
            try await world.others.card("a")
            switch state {
            case "unsent": try await store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
            case "pulled": try await anna.pull(Card.self, queryID: "cards")
            default: try await anna.pull(Card.self)
            }
            try await anna.withExclusiveSync {}
        }
        do {
            let some = try Store(at: path, models: [Person.self, Pet.self])
            let boris = SyncContext(store: some, remote: world.remote(), user: "boris")
            await #expect { try await boris.adopt(choice) } throws: {
                ($0 as? SyncError)?.code == .unknownModel && ($0 as? SyncError)?.table == "Card"
            }
            #expect(try await boris.owner == "anna")
        }
        let store = try Store(at: path, models: [Person.self, Card.self, Pet.self])
        let boris = SyncContext(store: store, remote: world.remote(), user: "boris")
        try await boris.adopt(choice)
        #expect(try await boris.owner == "boris")
        #expect(try await store.objects(Card.self).count() == (choice == .purge ? 0 : 1))
    }

    @Test func `models that are not open and have no synced data allow an adoption`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path(of: "a.tandem")
        let world = try SyncWorld()
        _ = try Store(at: path, models: [Person.self, Card.self, Pet.self])
        let some = try Store(at: path, models: [Person.self, Pet.self])
        let boris = SyncContext(store: some, remote: world.remote(), user: "boris")
        try await boris.adopt(.purge)
        #expect(try await boris.owner == "boris")
    }
}
