import HTTPTypes
import KintoWire
import Tandem
import TandemSync
import TestSupport
import Testing

/// Missing buckets and collections.
@Suite(.ownThreads) struct CollectionTests {
    private let everything = PageRequest(table: "Card", order: .id(after: nil), wantsGeneration: true)

    @Test func `a missing bucket and collection are created if the app allows it`() async throws {
        let kinto = FakeKinto()
        let remote = KintoRemote(kinto, creates: true)
        _ = try await remote.insert(.card("a"))
        #expect(
            kinto.requests == [
                "PUT /v1/buckets/b/collections/Card/records/a", "PUT /v1/buckets/b",
                "PUT /v1/buckets/b/collections/Card",
                "PUT /v1/buckets/b/collections/Card/records/a",
            ])
        #expect(kinto.live() == ["a"])
        _ = try await remote.insert(.card("b"))
        #expect(kinto.requests.count == 5)
    }

    @Test func `a pull and a look-up create a missing collection`() async throws {
        let kinto = FakeKinto("Other")
        let remote = KintoRemote(kinto, creates: true)
        let page = try await remote.page(everything)
        #expect(page.items.isEmpty && page.generation != nil)
        #expect(!kinto.requests.contains("PUT /v1/buckets/b"))
        let other = FakeKinto()
        #expect(try await KintoRemote(other, creates: true).find("Card", key: .id("a")) == nil)
        #expect(other.state.withLock { $0.buckets["b"]?["Card"] } != nil)
    }

    @Test func `a batch creates the missing collections of its writes, and repeats only these`() async throws {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto, creates: true)
        let person = OutgoingItem(table: "Person", id: "p", members: [("name", .text("Анна"))])
        let results = try await remote.send([
            RemoteRequest(.insert, item: .card("a")), RemoteRequest(.insert, item: person),
            RemoteRequest(.insert, item: .card("b")),
        ])
        #expect(results.map(\.line) == ["stored a", "stored p", "stored b"])
        #expect(kinto.live() == ["a", "b"] && kinto.live(in: "Person") == ["p"])
        #expect(kinto.requests == ["POST /v1/batch", "PUT /v1/buckets/b/collections/Person", "POST /v1/batch"])
        #expect(!kinto.bodies[2].contains("records/a"))
    }

    @Test func `two devices that create a collection at the same time both succeed`() async throws {
        let kinto = FakeKinto()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    _ = try await KintoRemote(kinto, creates: true).insert(.card(ServerID("r\(number)")))
                }
            }
            try await group.waitForAll()
        }
        #expect(kinto.live().count == 4)
    }

    @Test func `without the app's permission, the error names the missing resource and the request`() async throws {
        let collection = KintoRemote(FakeKinto("Other"))
        let advice = """
            refused 404 The collection 'Card' does not exist. Create it by PUT \
            https://shop.example/v1/buckets/b/collections/Card, or let KintoRemote create it: creates: true.
            """
        #expect(await line { () async throws(RemoteFailure) in try await collection.insert(.card("a")) } == advice)
        #expect(await line { () async throws(RemoteFailure) in try await collection.page(everything) } == advice)
        #expect(await line { () async throws(RemoteFailure) in try await collection.changeTag(of: "Card") } == advice)
        let bucket = KintoRemote(FakeKinto())
        let outcome = await line { () async throws(RemoteFailure) in try await bucket.page(everything) }
        #expect(outcome.hasPrefix("refused 403 This user cannot access this resource."))
        let bucketAdvice = "The bucket 'b' may not exist. Create it by PUT https://shop.example/v1/buckets/b,"
        #expect(outcome.contains(bucketAdvice))
        let outcomes = try await bucket.send([
            RemoteRequest(.insert, item: .card("a")), RemoteRequest(.insert, item: .card("b")),
        ])
        #expect(outcomes.count == 2)
        for outcome in outcomes { #expect(outcome.line.contains(bucketAdvice)) }
    }

    @Test func `a user who may not create a bucket gets an error that names it`() async throws {
        let kinto = FakeKinto()
        kinto.state.withLock { $0.mayCreateBuckets = false }
        let remote = KintoRemote(kinto, creates: true)
        let outcome = await line { () async throws(RemoteFailure) in try await remote.insert(.card("a")) }
        let advice = "PUT https://shop.example/v1/buckets/b as a user"
        #expect(outcome.hasPrefix("refused 403") && outcome.contains(advice))
        let outcomes = try await remote.send([
            RemoteRequest(.insert, item: .card("a")), RemoteRequest(.insert, item: .card("b")),
        ])
        #expect(outcomes.count == 2)
        for outcome in outcomes { #expect(outcome.line.hasPrefix("refused 403") && outcome.line.contains(advice)) }
    }

    @Test func `a read-only collection is read, and a write is refused in words`() async throws {
        let kinto = FakeKinto("Card")
        kinto.put("a")
        kinto.state.withLock { $0.readOnly = ["Card"] }
        let remote = KintoRemote(kinto, creates: true)
        #expect(try await remote.page(everything).items.names == ["a"])
        kinto.clearLog()
        let words = "refused 403 This user cannot access this resource."
        #expect(await line { () async throws(RemoteFailure) in try await remote.update(.card("a")) } == words)
        let results = try await remote.send([
            RemoteRequest(.insert, item: .card("b")), RemoteRequest(.delete, item: .card("a")),
        ])
        #expect(results.map(\.line) == [words, words])
        // The collection is known to exist, so that none of them tried to create it. Kinto also refuses to delete a
        // record that does not exist, so the refused delete looks it up.
        let records = "/v1/buckets/b/collections/Card/records"
        #expect(kinto.requests.prefix(2) == ["PATCH \(records)/a", "POST /v1/batch"])
        #expect(kinto.requests.count == 3 && kinto.requests[2].hasPrefix("GET \(records)?id=%22a%22&"))
    }

    @Test func `a collection that is removed later is created again`() async throws {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto, creates: true)
        _ = try await remote.insert(.card("a"))
        kinto.state.withLock { _ = $0.buckets["b"]?.removeValue(forKey: "Card") }
        _ = try await remote.insert(.card("b"))
        #expect(kinto.live() == ["b"])
    }
}
