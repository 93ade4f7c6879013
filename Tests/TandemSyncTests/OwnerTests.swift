import DatasyncWire
import Tandem
import Testing

@testable import TandemSync

/// Whose data a store holds: the next one who signs in does not see, or send, the last one's.
@Suite struct OwnerTests {
    @Test func theFirstUserBecomesTheOwner() async throws {
        let world = try SyncWorld()
        let (store, _) = try world.device()
        let context = SyncContext(store: store, remote: world.remote(), user: "anna")
        #expect(try await context.owner == nil)
        try await context.exclusively {}
        #expect(try await context.owner == "anna")
        try await context.exclusively {}
    }

    @Test(arguments: ["boris", nil] as [String?])
    func anotherUserIsRefused(user: String?) async throws {
        let world = try SyncWorld()
        let (store, _) = try world.device()
        try await SyncContext(store: store, remote: world.remote(), user: "anna").exclusively {}
        let other = SyncContext(store: store, remote: world.remote(), user: user)
        await #expect { try await other.exclusively {} } throws: { ($0 as? SyncError)?.code == .otherUser }
        #expect(try await other.owner == "anna" && world.requests.isEmpty)
    }

    @Test func aServerIsRememberedWhenItHasAnswered() async throws {
        let world = try SyncWorld()
        let (store, context) = try world.device()
        func remembered() async throws -> String? { try await context.store.read { try $0.syncSetting(.remote) } }
        world.next(.get, .lostAnswer)
        _ = try? await context.remote.find("Card", .id("1"))
        #expect(try await remembered() == nil)
        _ = try await context.remote.find("Card", .id("1"))
        #expect(try await remembered() == "https://shop.example")

        let elsewhere = DatasyncRemote(
            ServerAddress("https://other.example")!, .datasync, over: try SyncWorld().transport)
        let other = SyncContext(store: store, remote: elsewhere)
        await #expect { try await other.exclusively {} } throws: { ($0 as? SyncError)?.code == .otherServer }
        try await context.exclusively {}
    }
}
