import HTTPTypes
import KintoWire
import Tandem
import TandemSync
import TestSupport
import Testing

@Suite(.ownThreads) struct WriteTests {
    @Test func `an insert with an ID is a PUT that replaces nothing`() async throws {
        let kinto = FakeKinto("Card")
        let response = try await KintoRemote(kinto).insert(.card("a", [("shop", .text("Лента")), ("n", .null)]))
        #expect(kinto.requests == ["PUT /v1/buckets/b/collections/Card/records/a"])
        #expect(kinto.bodies == [#"{"data":{"n":null,"shop":"Лента"}}"#])
        #expect(kinto.heads[0].headerFields[.ifNoneMatch] == "*")
        #expect(kinto.heads[0].headerFields[.contentType] == "application/json")
        let record = try #require(kinto.record("a"))
        #expect(response.version == String(record.time))
        #expect(response.item?.updatedAt?.seconds == record.time / 1000)
        #expect(response.item?.members.map(\.key) == ["n", "shop"])
        #expect(response.serverDate != nil)
    }

    @Test func `an insert without an ID is a POST, and the server creates the ID`() async throws {
        let kinto = FakeKinto("Card")
        let response = try await KintoRemote(kinto).insert(.card(nil))
        #expect(kinto.requests == ["POST /v1/buckets/b/collections/Card/records"])
        #expect(kinto.live() == [response.item?.id.rawValue])
    }

    @Test func `an insert of an ID that exists is a conflict with the server's record`() async throws {
        let kinto = FakeKinto("Card")
        let time = kinto.put("a", [("shop", .text("old"))])
        do throws(RemoteFailure) {
            _ = try await KintoRemote(kinto).insert(.card("a"))
            Issue.record("The insert succeeded.")
        } catch {
            guard case .conflict(412, let item?, let detail) = error else { throw error }
            #expect(item.version == String(time) && item[member: "shop"] == .text("old"))
            #expect(detail.message == "Resource was modified meanwhile")
        }
    }

    @Test func `an update sends only the changed members, with its version`() async throws {
        let kinto = FakeKinto("Card")
        let time = kinto.put("a", [("shop", .text("old")), ("points", .integer(1)), ("other", .text("kept"))])
        var item = OutgoingItem.card("a", version: String(time), [("shop", .text("new")), ("points", .integer(1))])
        item.changed = ["shop"]
        let response = try await KintoRemote(kinto).update(item)
        #expect(kinto.requests == ["PATCH /v1/buckets/b/collections/Card/records/a"])
        #expect(kinto.bodies == [#"{"data":{"shop":"new"}}"#])
        #expect(kinto.heads[0].headerFields[.ifMatch] == "\"\(time)\"")
        #expect(response.item?[member: "other"] == .text("kept"))
        #expect(response.item?[member: "shop"] == .text("new"))
    }

    @Test func `an update of another version is a conflict, and without a version it is not`() async throws {
        let kinto = FakeKinto("Card")
        kinto.put("a", [("shop", .text("old"))])
        let remote = KintoRemote(kinto)
        let stale = await line { () async throws(RemoteFailure) in try await remote.update(.card("a", version: "7")) }
        #expect(stale == "conflict 412 with a")
        #expect(try await remote.update(.card("a")).item?[member: "shop"] == .text("Лента"))
        #expect(kinto.heads.last?.headerFields[.ifMatch] == nil)
    }

    @Test func `an update or a delete of a missing or deleted record reports that it does not exist`() async {
        let kinto = FakeKinto("Card")
        kinto.put("a")
        kinto.delete("a")
        let remote = KintoRemote(kinto)
        for id in ["a", "b"] as [ServerID] {
            let item = OutgoingItem.card(id, version: "5")
            #expect(await line { () async throws(RemoteFailure) in try await remote.update(item) } == "notFound")
            #expect(await line { () async throws(RemoteFailure) in try await remote.delete(item) } == "notFound")
        }
    }

    @Test func `a delete has its version and returns the tombstone`() async throws {
        let kinto = FakeKinto("Card")
        let time = kinto.put("a")
        let remote = KintoRemote(kinto)
        let stale = await line { () async throws(RemoteFailure) in try await remote.delete(.card("a", version: "7")) }
        #expect(stale == "conflict 412 with a")
        let response = try await remote.delete(.card("a", version: String(time)))
        #expect(response.item?.isDeleted == true)
        #expect(response.version == kinto.record("a").map { String($0.time) })
        #expect(kinto.live().isEmpty)
    }

    // MARK: Undelete

    @Test func `an undelete restores a tombstone of its version with all values`() async throws {
        let kinto = FakeKinto("Card")
        kinto.put("a")
        let time = kinto.delete("a")
        let item = OutgoingItem.card("a", version: String(time), unknown: [("other", .integer(2)), ("id", .text("z"))])
        let response = try await KintoRemote(kinto).undelete(item)
        #expect(response.tookValues)
        #expect(response.item?[member: "shop"] == .text("Лента"))
        #expect(response.item?[member: "other"] == .integer(2))
        #expect(kinto.live() == ["a"])
    }

    @Test func `an undelete of another tombstone or of a live record is a conflict`() async {
        let kinto = FakeKinto("Card")
        kinto.put("a")
        kinto.delete("a")
        kinto.put("b")
        let remote = KintoRemote(kinto)
        func undelete(_ id: ServerID, _ version: String?) async -> String {
            await line { () async throws(RemoteFailure) in try await remote.undelete(.card(id, version: version)) }
        }
        #expect(await undelete("a", "7") == "conflict 412 with a")
        #expect(await undelete("b", "7") == "conflict 412 with b")
        #expect(await undelete("b", nil) == "conflict 412 with b")
        #expect(await undelete("c", "7") == "notFound")
        #expect(kinto.live() == ["b"])
        #expect(await undelete("a", nil) == "success")
    }

    // MARK: Contention

    @Test func `a write that meets another writer's time is sent again`() async throws {
        let kinto = FakeKinto("Card")
        kinto.fail(.contention(), .contention())
        _ = try await KintoRemote(kinto).insert(.card("a"))
        #expect(kinto.live() == ["a"])
        #expect(kinto.requests.count == 3)
    }

    @Test func `a write that always meets another writer's time is put off`() async {
        let kinto = FakeKinto("Card")
        for _ in 0..<100 { kinto.fail(.contention()) }
        let remote = KintoRemote(kinto)
        #expect(await line { () async throws(RemoteFailure) in try await remote.insert(.card("a")) } == "later 409 -")
        #expect(kinto.requests.count < 20)
    }

    @Test func `a second write waits for the first one, and reads do not`() async throws {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        let gate = Gate()
        kinto.fail(.wait(gate))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await remote.insert(.card("first")) }
            try await kinto.waitForRequests()
            for number in 0..<10 { group.addTask { _ = try await remote.insert(.card(ServerID("r\(number)"))) } }
            #expect(try await remote.find("Card", key: .id("first")) == nil)
            #expect(kinto.requests.count { $0.hasPrefix("PUT") } == 1)
            gate.open()
            try await group.waitForAll()
        }
        #expect(kinto.live().count == 11)
        #expect(kinto.state.withLock { $0.greatestWritesInFlight } == 1)
    }

    @Test func `a cancelled write stops waiting, was not sent, and blocks no other`() async throws {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        let gate = Gate()
        kinto.fail(.wait(gate))
        let first = Task { () throws(RemoteFailure) in try await remote.insert(.card("first")) }
        try await kinto.waitForRequests()
        let second = Task { await line { () async throws(RemoteFailure) in try await remote.insert(.card("second")) } }
        let third = Task { await line { () async throws(RemoteFailure) in try await remote.insert(.card("third")) } }
        second.cancel()
        #expect(await second.value == "notSent CancellationError")
        gate.open()
        _ = try await first.value
        #expect(await third.value == "success")
        #expect(kinto.live() == ["first", "third"])
    }

    @Test func `a write that is cancelled in flight releases the lock`() async throws {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        kinto.fail(.wait(Gate()))
        let first = Task { await line { () async throws(RemoteFailure) in try await remote.insert(.card("first")) } }
        try await kinto.waitForRequests()
        first.cancel()
        #expect(await first.value == "lost CancellationError")
        _ = try await remote.insert(.card("second"))
        #expect(kinto.live() == ["second"])
    }
}
