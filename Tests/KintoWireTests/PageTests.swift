import KintoWire
import Tandem
import TandemSync
import TestSupport
import Testing

@Suite(.ownThreads) struct PageTests {
    private func changes(from time: WireTimestamp? = nil, top: Int = 100) -> PageRequest {
        PageRequest(
            table: "Card", order: .updatedAt(from: time), top: top, includeDeleted: true, wantsGeneration: true)
    }

    @Test func `a pull reads changes and tombstones in the order of their times`() async throws {
        let kinto = FakeKinto("Card")
        for id in ["c", "a", "b"] { kinto.put(id, [("shop", .text(id))]) }
        let tombstone = kinto.delete("c")
        let page = try await KintoRemote(kinto).page(changes())
        #expect(page.items.names == ["a", "b", "-c"])
        #expect(!page.hasMore)
        #expect(page.items.last?.version == String(tombstone))
        #expect(page.items[0].members.map(\.key) == ["shop"])
        #expect(
            kinto.requests.last == "GET /v1/buckets/b/collections/Card/records?_since=0&_sort=last_modified&_limit=100")
        #expect(page.serverDate != nil)
    }

    @Test func `the position of a page is included, although Kinto excludes it`() async throws {
        let kinto = FakeKinto("Card")
        let times = ["a", "b", "c"].map { kinto.put($0) }
        let remote = KintoRemote(kinto)
        let first = try await remote.page(changes(top: 2))
        #expect(first.items.names == ["a", "b"] && first.hasMore)
        let place = try #require(first.items.last?.updatedAt)
        let second = try await remote.page(changes(from: place, top: 2))
        #expect(second.items.names == ["b", "c"] && !second.hasMore)
        #expect(kinto.requests.last?.contains("_since=\(times[1] - 1)&") == true)
    }

    @Test func `pages stay complete while records change between them`() async throws {
        let kinto = FakeKinto("Card")
        for number in 0..<10 { kinto.put("r\(number)") }
        let remote = KintoRemote(kinto)
        var (seen, place) = ([String: Bool](), nil as WireTimestamp?)
        for turn in 0..<40 {
            let page = try await remote.page(changes(from: place, top: 3))
            for item in page.items { seen[item.id.rawValue] = item.isDeleted }
            place = page.items.last?.updatedAt ?? place
            switch turn {
            case 0: kinto.delete("r0")
            case 1: kinto.put("r1", [("x", .integer(1))])
            case 2: kinto.put("new")
            default: break
            }
            if !page.hasMore { break }
        }
        #expect(seen.count == 11)
        #expect(seen["r0"] == true && seen["new"] == false)
    }

    @Test func `a full pull reads live records in the order of their IDs`() async throws {
        let kinto = FakeKinto("Card")
        for id in ["b", "a", "A", "c", "d"] { kinto.put(id) }
        kinto.delete("c")
        let remote = KintoRemote(kinto)
        let first = try await remote.page(PageRequest(table: "Card", order: .id(after: nil), top: 2))
        #expect(first.items.names == ["A", "a"] && first.hasMore)
        let second = try await remote.page(PageRequest(table: "Card", order: .id(after: "a"), top: 2))
        #expect(second.items.names == ["b", "d"] && !second.hasMore)
        #expect(kinto.requests.last == "GET /v1/buckets/b/collections/Card/records?gt_id=%22a%22&_sort=id&_limit=2")
    }

    @Test func `items are skipped, and the page after them is as long as requested`() async throws {
        let kinto = FakeKinto("Card")
        for id in ["a", "b", "c", "d"] { kinto.put(id) }
        let page = try await KintoRemote(kinto).page(
            PageRequest(table: "Card", order: .id(after: nil), skip: 1, top: 2))
        #expect(page.items.names == ["b", "c"] && page.hasMore)
    }

    @Test func `the server's own limit makes pages shorter`() async throws {
        let kinto = FakeKinto("Card")
        for id in ["a", "b", "c"] { kinto.put(id) }
        kinto.state.withLock { $0.pageMaximum = 2 }
        let remote = KintoRemote(kinto)
        let page = try await remote.page(changes())
        #expect(page.items.names == ["a", "b"] && page.hasMore)
        let skipping = PageRequest(table: "Card", order: .id(after: nil), skip: 2, top: 2)
        #expect(
            await line { () async throws(RemoteFailure) in try await remote.page(skipping) }
                == "invalidResponse tooManyItems")
    }

    @Test func `a filtered pull has the tombstones of all records, which have no values`() async throws {
        let kinto = FakeKinto("Card")
        kinto.put("a", [("shop", .text("x"))])
        kinto.put("b", [("shop", .text("y"))])
        kinto.put("c", [("shop", .text("x"))])
        kinto.put("d", [("shop", .text("x"))])
        kinto.delete("c")
        kinto.delete("b")
        let remote = KintoRemote(kinto)
        var request = changes()
        request.filter = .comparison(RemoteFilter.Member("shop"), by: .equal, to: .text("x"))
        #expect(try await remote.page(request).items.names == ["a", "d", "-c", "-b"])
        // Each list has a page of its own. The result ends where the shorter one does.
        var (names, place) = ([String](), nil as WireTimestamp?)
        for _ in 0..<10 {
            request.order = .updatedAt(from: place)
            request.top = 2
            let page = try await remote.page(request)
            #expect(page.items.count <= 2)
            for name in page.items.names where names.last != name { names.append(name) }
            place = page.items.last?.updatedAt
            if !page.hasMore { break }
        }
        #expect(names == ["a", "d", "-c", "-b"])
    }

    @Test func `a filter of the time does not list tombstones in a full pull`() async throws {
        let kinto = FakeKinto("Card")
        kinto.put("a")
        kinto.put("b")
        kinto.delete("b")
        let time = try #require(WireTimestamp("2020-01-01T00:00:00.000Z"))
        let page = try await KintoRemote(kinto).page(
            PageRequest(
                table: "Card", filter: .comparison(.updatedAt, by: .greater, to: .time(time)), order: .id(after: nil))
        )
        #expect(page.items.names == ["a"])
    }

    @Test func `the number of live records is requested if the caller wants it`() async throws {
        let kinto = FakeKinto("Card")
        for id in ["a", "b", "c"] { kinto.put(id) }
        kinto.delete("c")
        let page = try await KintoRemote(kinto).page(
            PageRequest(table: "Card", order: .id(after: nil), top: 1, wantsCount: true))
        #expect(page.count == 2)
        #expect(kinto.requests.contains("HEAD /v1/buckets/b/collections/Card/records"))
    }

    // MARK: Generations

    @Test func `a collection that is created again has another generation`() async throws {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        let first = try await remote.page(changes()).generation
        #expect(try await remote.page(changes()).generation == first)
        kinto.state.withLock { state in
            state.now += 10
            state.buckets["b"]?["Card"] = FakeKinto.Collection(members: [], created: state.now, time: state.now)
        }
        let second = try await remote.page(changes()).generation
        #expect(first != nil && second != nil && first != second)
    }

    @Test func `an edit of a collection's settings keeps its generation if the remote created it`() async throws {
        let kinto = FakeKinto()
        let remote = KintoRemote(kinto, creates: true)
        let first = try await remote.page(changes()).generation
        kinto.state.withLock { state in
            state.now += 10
            state.buckets["b"]?["Card"]?.created = state.now
        }
        #expect(first != nil)
        #expect(try await remote.page(changes()).generation == first)
    }

    @Test func `the generation costs a request only if the caller wants it`() async throws {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        var request = changes()
        #expect(try await remote.page(request).generation != nil)
        request.wantsGeneration = false
        #expect(try await remote.page(request).generation == nil)
        #expect(kinto.requests.count { $0.hasSuffix("/collections/Card") } == 1)
        #expect(kinto.requests.count == 3)
    }

    // MARK: Positions

    @Test func `a position that the server refuses is outdated`() async throws {
        let kinto = FakeKinto("Card")
        let time = try #require(WireTimestamp("2099-01-01T00:00:00.000Z"))
        let remote = KintoRemote(kinto)
        #expect(
            await line { () async throws(RemoteFailure) in try await remote.page(changes(from: time)) }
                == "outdatedPosition 400")
    }

    @Test func `a position after the collection's last change is outdated, although the server accepts it`()
        async throws
    {
        let kinto = FakeKinto("Card")
        let place = kinto.put("a")
        let remote = KintoRemote(kinto)
        // A pull that has read all records of a time begins one millisecond later.
        let next = try timestamp(place + 1)
        #expect(try await remote.page(changes(from: next)).items.isEmpty)
        let late = try timestamp(place + 2)
        #expect(
            await line { () async throws(RemoteFailure) in try await remote.page(changes(from: late)) }
                == "outdatedPosition 200")
        // A full pull has no position in time.
        #expect(try await remote.page(PageRequest(table: "Card", order: .id(after: "zz"))).items.isEmpty)
    }

    @Test func `the server's request for a pause is reported with a page`() async throws {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        kinto.fail(.fields([:]), .fields([.init("Backoff")!: "30"]))
        #expect(try await remote.page(changes()).backoff == .seconds(30))
        #expect(try await remote.page(changes()).backoff == nil)
    }

    // MARK: Look-ups

    @Test func `a look-up finds live and deleted records, and nothing else`() async throws {
        let kinto = FakeKinto("Card")
        kinto.put("a", [("code", .text("1"))])
        kinto.put("b", [("code", .text("a,b"))])
        kinto.put("1e5", [("code", .integer(1))])
        let time = kinto.delete("b")
        let remote = KintoRemote(kinto)
        #expect(try await remote.find("Card", key: .id("a"))?.id == "a")
        let tombstone = try await remote.find("Card", key: .id("b"))
        #expect(tombstone?.isDeleted == true && tombstone?.version == String(time))
        #expect(try await remote.find("Card", key: .id("1e5"))?.id == "1e5")
        #expect(try await remote.find("Card", key: .id("c")) == nil)
        // The text, and not the number.
        #expect(try await remote.find("Card", key: .property("code", value: "1"))?.id == "a")
        #expect(try await remote.find("Card", key: .property("code", value: "2")) == nil)
    }

    @Test func `a look-up by a property with several records is ambiguous`() async {
        let kinto = FakeKinto("Card")
        for id in ["a", "b"] { kinto.put(id, [("code", .text("1"))]) }
        let remote = KintoRemote(kinto)
        let outcome = await line { () async throws(RemoteFailure) in
            try await remote.find("Card", key: .property("code", value: "1"))
        }
        #expect(outcome == "invalidResponse ambiguous")
    }
}
