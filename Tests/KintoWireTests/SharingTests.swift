import HTTPTypes
import KintoWire
import Tandem
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// Permissions of single objects.
@Suite(.ownThreads) struct SharingTests {
    @Model struct Card {
        var shop: String
    }

    /// Returns an object that the server has.
    private func card(on kinto: FakeKinto) throws -> Card {
        kinto.put("a", [("shop", .text("Лента"))])
        return try Store.inMemory(models: Card.self).applyServerObject(Card(shop: "Лента"), serverID: "a")
    }

    @Test func `a user and a group get permissions, and lose them`() async throws {
        let kinto = FakeKinto("Card")
        let (card, remote) = (try card(on: kinto), KintoRemote(kinto))
        let (maria, group) = (KintoPrincipal.account("maria"), KintoPrincipal.group("a~b", of: "cards"))
        try await remote.share(card, with: maria)
        try await remote.share(card, with: maria, for: .write)
        try await remote.share(card, with: group, for: .read)
        let me = try await remote.principal()
        let shared = try await remote.permissions(of: card)
        #expect(shared == KintoPermissions(readers: [maria, group], writers: [maria, me]))
        #expect(kinto.bodies[2].contains("/permissions/read/~1buckets~1cards~1groups~1a~0b"))
        // The values stay.
        #expect(kinto.record("a")?.members["shop"] == .text("Лента"))
        try await remote.unshare(card, from: maria)
        // Nothing is left to withdraw.
        try await remote.unshare(card, from: maria)
        #expect(try await remote.permissions(of: card) == KintoPermissions(readers: [group], writers: [me]))
    }

    @Test(arguments: ["oidc:a~\u{301}b", "oidc:a/\u{301}b"])
    func `a sign with a combining accent is escaped in a user's name`(name: String) async throws {
        let kinto = FakeKinto("Card")
        let (card, remote) = (try card(on: kinto), KintoRemote(kinto))
        let me = try await remote.principal()
        try await remote.share(card, with: KintoPrincipal(rawValue: name))
        let shared = try await remote.permissions(of: card)
        #expect(shared == KintoPermissions(readers: [KintoPrincipal(rawValue: name)], writers: [me]))
        try await remote.unshare(card, from: KintoPrincipal(rawValue: name))
        #expect(try await remote.permissions(of: card) == KintoPermissions(readers: [], writers: [me]))
    }

    @Test func `a share that another writer's time refuses is repeated`() async throws {
        let kinto = FakeKinto("Card")
        let (card, remote) = (try card(on: kinto), KintoRemote(kinto))
        kinto.fail(.contention(), .contention())
        try await remote.share(card, with: .everyone)
        #expect(kinto.state.withLock { $0.permissions["a"]?["read"] } == ["system.Everyone"])
        #expect(kinto.requests.count == 3)
    }

    @Test func `a refusal is an error in words`() async throws {
        let kinto = FakeKinto("Card")
        let (card, remote) = (try card(on: kinto), KintoRemote(kinto))
        kinto.state.withLock { $0.shared["Card"] = .init(visible: ["a"], readOnly: ["a"]) }
        let error = await #expect(throws: SyncError.self) { try await remote.share(card, with: .authenticated) }
        #expect(error?.code == .refused && error?.status == 403 && error?.table == "Card")
        #expect(error?.message.contains("This user cannot access this resource.") == true)
        let unsent = await #expect(throws: SyncError.self) {
            try await remote.share(Card(shop: "Магнит"), with: .authenticated)
        }
        #expect(unsent?.code == .notEncodable)
        #expect(kinto.requests.count == 1)
    }

    @Test func `the current user is unknown without credentials`() async {
        let kinto = FakeKinto("Card")
        kinto.state.withLock { $0.user = nil }
        let remote = KintoRemote(kinto)
        let error = await #expect(throws: SyncError.self) { try await remote.principal() }
        #expect(error?.code == .unauthenticated)
    }

    @Test(arguments: [#"{"data":{},"permissions":{"read":"all"}}"#, #"{"data":{},"permissions":[]}"#, "{}"])
    func `permissions that are not lists of names are not valid`(text: String) async throws {
        let kinto = FakeKinto("Card")
        let (card, remote) = (try card(on: kinto), KintoRemote(kinto))
        kinto.fail(.response(200, [.contentType: "application/json"], text))
        let error = await #expect(throws: SyncError.self) { try await remote.permissions(of: card) }
        #expect(error?.code == .invalidResponse)
    }
}
