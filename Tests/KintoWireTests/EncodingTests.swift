import KintoWire
import Tandem
import TandemSync
import TestSupport
import Testing

/// Values on their way to the server and back.
@Suite(.ownThreads) struct EncodingTests {
    private static let values: [JSONNode] = [
        .null, .bool(true), .bool(false), .integer(0), .integer(-7), .integer(9_007_199_254_740_993), .integer(.max),
        .integer(.min), .real(0.1), .real(-1.5e300), .real(.leastNonzeroMagnitude), .real(-0.0), .text(""),
        .text("Лента «№ 5»"),
        .text("👩‍👩‍👧‍👦 e\u{301} \u{2028}"), .text("\"\\/\u{1}\n\t"), .array([]),
        .array([.integer(1), .null, .array([.text("a")])]), .object([]),
        .object([("a", .integer(1)), ("b", .object([("я", .array([.bool(true)]))]))]),
    ]

    @Test func `every value that Kinto can store comes back as it was`() async throws {
        let kinto = FakeKinto("Card")
        let members = Self.values.enumerated().map { (key: "v\(100 + $0)", value: $1) }
        let response = try await KintoRemote(kinto).insert(.card("a", members))
        #expect(response.item.map { JSONNode.object($0.members) } == .object(members))
        let found = try await KintoRemote(kinto).find("Card", key: .id("a"))
        #expect(found.map { JSONNode.object($0.members) } == .object(members))
    }

    @Test func `the bytes of a body are UTF-8 with exact numbers`() async throws {
        let kinto = FakeKinto("Card")
        _ = try await KintoRemote(kinto).insert(
            .card(
                "a",
                [
                    ("t", .text("ж👍")), ("i", .integer(9_007_199_254_740_993)), ("z", .real(-0.0)),
                    ("o", .object([("b", .array([.null]))])),
                ]))
        #expect(kinto.bodies == [#"{"data":{"i":9007199254740993,"o":{"b":[null]},"t":"ж👍","z":-0.0}}"#])
    }

    @Test(arguments: [
        JSONNode.text("a\u{0}"), .array([.text("\u{0}")]), .object([("a", .object([("b", .text("\u{0}b"))]))]),
        .object([("a\u{0}", .null)]), .real(.nan), .real(.infinity), .array([.real(-.infinity)]), .blob([1]),
        .object([("a", .blob([]))]),
    ])
    func `a value that Kinto can't store is refused before it is sent`(value: JSONNode) async {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        for kind in [RemoteRequest.Kind.insert, .update, .undelete] {
            let request = RemoteRequest(kind, item: .card("a", version: "5", [("x", value)]))
            let outcome = await line { () async throws(RemoteFailure) in try await remote.send([request])[0].get() }
            #expect(outcome == "notEncodable value")
        }
        #expect(kinto.requests.isEmpty)
    }

    @Test func `a value that did not change is not checked`() async throws {
        let kinto = FakeKinto("Card")
        kinto.put("a")
        var item = OutgoingItem.card("a", [("x", .text("\u{0}")), ("y", .integer(1))])
        item.changed = ["y"]
        _ = try await KintoRemote(kinto).update(item)
        #expect(kinto.bodies == [#"{"data":{"y":1}}"#])
    }

    @Test(arguments: ["id", "last_modified", "deleted", "schema", "__permissions__", "a\u{0}"])
    func `a member with a name of Kinto's own is refused`(name: String) async {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        let outcome = await line { () async throws(RemoteFailure) in
            try await remote.insert(.card("a", [(name, .integer(1))]))
        }
        #expect(outcome == "notEncodable memberName")
        #expect(kinto.requests.isEmpty)
        #expect(remote.reservedNames == ["id", "last_modified", "deleted", "schema"])
    }

    @Test(arguments: [
        "", "-a", "_a", "a b", "a/b", "я", "a.b", "..", "a\u{301}", "a\n", String(repeating: "a", count: 256),
    ])
    func `an ID that Kinto refuses is refused before it is sent`(id: String) async {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        let item = OutgoingItem.card(ServerID(id), version: "5")
        for kind in [RemoteRequest.Kind.insert, .update, .delete, .undelete] {
            let outcome = await line { () async throws(RemoteFailure) in
                try await remote.send([RemoteRequest(kind, item: item)])[0].get()
            }
            #expect(outcome == "notEncodable invalidID")
        }
        let found = await line { () async throws(RemoteFailure) in try await remote.find("Card", key: .id(ServerID(id)))
        }
        #expect(found == "notEncodable invalidID")
        #expect(kinto.requests.isEmpty)
    }

    @Test func `a local ID is a valid ID in Kinto`() async throws {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        for id in ["018f3c9a-7c1e-7b2a-9f00-0123456789ab", "A", "0", "a_-", String(repeating: "a", count: 255)] {
            _ = try await remote.insert(.card(ServerID(id)))
        }
        #expect(kinto.live().count == 5)
    }

    @Test(arguments: ["abc", "\"5\"", "05", "5.0", "-5", "1234567890123456789012"])
    func `a version that is not Kinto's is refused before it is sent`(version: String) async {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        let outcome = await line { () async throws(RemoteFailure) in
            try await remote.update(.card("a", version: version))
        }
        #expect(outcome == "notEncodable invalidVersion")
        #expect(kinto.requests.isEmpty)
    }

    @Test func `an update without a change and a write without an ID are refused`() async {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        var item = OutgoingItem.card("a")
        item.changed = []
        #expect(
            await line { () async throws(RemoteFailure) in try await remote.update(item) } == "notEncodable noChange")
        for kind in [RemoteRequest.Kind.update, .delete, .undelete] {
            let request = RemoteRequest(kind, item: .card(nil))
            let outcome = await line { () async throws(RemoteFailure) in try await remote.send([request])[0].get() }
            #expect(outcome == "notEncodable missingID")
        }
        #expect(kinto.requests.isEmpty)
    }

    @Test(arguments: ["Мои карты", "a/b", "", "_a"])
    func `a table that can't be a collection is refused before it is sent`(name: String) async {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        let table = RemoteTableName(name)
        let outcomes = [
            await line { () async throws(RemoteFailure) in
                try await remote.page(PageRequest(table: table, order: .id(after: nil)))
            },
            await line { () async throws(RemoteFailure) in try await remote.find(table, key: .id("a")) },
            await line { () async throws(RemoteFailure) in try await remote.changeTag(of: table) },
            await line { () async throws(RemoteFailure) in try await remote.insert(OutgoingItem(table: table, id: nil))
            },
        ]
        #expect(outcomes == Array(repeating: "notEncodable memberName", count: 4))
        #expect(kinto.requests.isEmpty)
    }

    @Test func `the address of the API has its version once`() {
        for address in ["https://shop.example", "https://shop.example/v1", "https://shop.example/v1/"] {
            let remote = KintoRemote(ServerAddress(address)!, bucket: "b", over: FakeKinto())
            #expect(remote.address == "https://shop.example/v1")
            #expect(remote.url(of: "Card") == "https://shop.example/v1/buckets/b/collections/Card/records")
        }
        let remote = KintoRemote(ServerAddress("https://shop.example/kinto")!, bucket: "b", over: FakeKinto())
        #expect(remote.address == "https://shop.example/kinto/v1")
    }
}
