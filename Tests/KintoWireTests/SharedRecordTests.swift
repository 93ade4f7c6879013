import HTTPTypes
import KintoWire
import Tandem
import TandemSync
import TestSupport
import Testing

/// Records shared with a user who may not read the whole collection.
@Suite(.ownThreads) struct SharedRecordTests {
    private func changes(from time: WireTimestamp? = nil) -> PageRequest {
        PageRequest(table: "Card", order: .updatedAt(from: time), includeDeleted: true, wantsGeneration: true)
    }

    /// Returns a server with the records a, b, c, of which the user sees some.
    private func kinto(_ sharing: FakeKinto.Sharing) -> FakeKinto {
        let kinto = FakeKinto("Card")
        for id in ["a", "b", "c"] { kinto.put(id) }
        kinto.state.withLock { $0.shared["Card"] = sharing }
        return kinto
    }

    @Test(arguments: [false, true])
    func `a page of shared records has their number, because tombstones are hidden`(mayCreate: Bool) async throws {
        let kinto = kinto(.init(visible: ["a", "b"], mayCreate: mayCreate))
        let remote = KintoRemote(kinto)
        let first = try await remote.page(changes())
        #expect(first.items.names == ["a", "b"] && first.visibleCount == 2 && first.generation != nil)
        kinto.delete("b")
        let place = try #require(first.items.last?.updatedAt)
        let second = try await remote.page(changes(from: place))
        #expect(second.items.isEmpty && second.visibleCount == 1 && second.generation == first.generation)
        // The number of a filtered page says that tombstones are hidden. A missing record is then no sign of a restored
        // server.
        var filtered = changes()
        filtered.filter = .comparison(RemoteFilter.Member("shop"), by: .equal, to: .text("Лента"))
        #expect(try await remote.page(filtered).visibleCount == 1)
        // Further pages and full pulls need no number.
        var next = changes()
        next.wantsGeneration = false
        #expect(try await remote.page(next).visibleCount == nil)
        let full = PageRequest(table: "Card", order: .id(after: nil), wantsGeneration: true)
        #expect(try await remote.page(full).visibleCount == nil)
    }

    @Test(arguments: [false, true])
    func `a user who reads the whole collection gets no number, because tombstones are listed`(
        mayWrite: Bool
    ) async throws {
        let kinto = FakeKinto("Card")
        for id in ["a", "b"] { kinto.put(id) }
        kinto.delete("b")
        kinto.state.withLock { $0.mayWriteCollections = mayWrite }
        let page = try await KintoRemote(kinto).page(changes())
        #expect(page.items.names == ["a", "-b"] && page.visibleCount == nil)
        // Users who may write the collection see its permissions. For others, the status for a missing record
        // shows their view.
        let probes = mayWrite ? [] : ["HEAD /v1/buckets/b/collections/Card/records/tandem-no-record"]
        #expect(kinto.requests.filter { $0.hasPrefix("HEAD") } == probes)
    }

    /// A whole view would have no number, so that hidden records stay.
    @Test(arguments: [
        (429, HTTPFields([HTTPField(name: .retryAfter, value: "7")]), "later 429 7.0 seconds"),
        (503, HTTPFields([HTTPField(name: .retryAfter, value: "3")]), "later 503 3.0 seconds"),
        (500, HTTPFields(), "later 500 -"), (401, HTTPFields(), "unauthenticated 401"),
        (400, HTTPFields(), "refused 400 "), (204, HTTPFields(), "invalidResponse status"),
        (201, HTTPFields(), "invalidResponse status"),
    ])
    func `a failed look-up of a missing record fails the page`(
        status: Int, fields: HTTPFields, expected: String
    ) async throws {
        let kinto = kinto(.init(visible: ["a"], mayCreate: true))
        let remote = KintoRemote(kinto)
        // The collection is read first.
        kinto.fail(.fields([:]), .response(status, fields))
        let outcome = await line { () async throws(RemoteFailure) in try await remote.page(changes()) }
        #expect(outcome == expected)
        #expect(kinto.requests.count == 2)
        #expect(try await remote.page(changes()).visibleCount == 1)
    }

    /// A record that becomes visible without a change has an old time. Another generation causes a full pull.
    @Test(arguments: [false, true])
    func `a view of the whole collection has another generation than a partial one`(mayCreate: Bool) async throws {
        let kinto = kinto(.init(visible: ["a"], mayCreate: mayCreate))
        let remote = KintoRemote(kinto)
        let partial = try await remote.page(changes()).generation
        kinto.state.withLock { $0.shared["Card"] = nil }
        let whole = try await remote.page(changes()).generation
        #expect(partial != nil && whole != nil && partial != whole)
        kinto.state.withLock { $0.mayWriteCollections = false }
        #expect(try await remote.page(changes()).generation == whole)
    }

    @Test(arguments: [false, true])
    func `an edit of a read-only record is refused in words, and the rest of its batch is stored`(
        creates: Bool
    ) async throws {
        let kinto = kinto(.init(visible: ["a", "b"], readOnly: ["a"], mayCreate: true))
        let remote = KintoRemote(kinto, creates: creates)
        let words = "refused 403 This user cannot access this resource."
        let results = try await remote.send([
            RemoteRequest(.update, item: .card("a")), RemoteRequest(.update, item: .card("b")),
            RemoteRequest(.delete, item: .card("a")), RemoteRequest(.update, item: .card("c")),
            RemoteRequest(.insert, item: .card("d")),
        ])
        #expect(results.map(\.line) == [words, "stored b", words, words, "stored d"])
        // The accepted writes show that the bucket exists.
        #expect(!kinto.requests.contains { $0.hasPrefix("PUT") })
        #expect(kinto.record("a")?.members.isEmpty == true && kinto.record("b")?.members.isEmpty == false)
        #expect(try await remote.page(changes()).items.names == ["a", "b", "d"])
    }

    /// Otherwise the operation would be refused each time.
    @Test func `a delete that is repeated after a lost response finds no record`() async throws {
        let kinto = kinto(.init(visible: ["a", "b", "c"], readOnly: ["c"]))
        let remote = KintoRemote(kinto)
        kinto.fail(.lostResponse)
        let outcomes = ["lost Lost", "notFound"]
        for outcome in outcomes {
            #expect(await line { () async throws(RemoteFailure) in try await remote.delete(.card("a")) } == outcome)
        }
        kinto.delete("b")
        let deletes = ["a", "b", "c"].map { RemoteRequest(.delete, item: .card(ServerID($0))) }
        let refusal = "refused 403 This user cannot access this resource."
        #expect(try await remote.send(deletes).map(\.line) == ["notFound", "notFound", refusal])
        #expect(kinto.live() == ["c"])
    }

    /// A refused operation would not be repeated.
    @Test(arguments: [
        (FakeKinto.Fault.lostRequest, "notSent Lost"), (.lostResponse, "notSent Lost"),
        (.response(503, [.retryAfter: "3"]), "later 503 3.0 seconds"), (.response(401), "unauthenticated 401"),
        (.response(400), "refused 403 This user cannot access this resource."),
    ])
    func `a delete whose look-up fails is repeated`(fault: FakeKinto.Fault, expected: String) async throws {
        let kinto = kinto(.init(visible: ["a", "b", "c"]))
        let remote = KintoRemote(kinto)
        kinto.delete("b")
        kinto.delete("c")
        // The delete, then the look-up.
        kinto.fail(.fields([:]), fault)
        let outcome = await line { () async throws(RemoteFailure) in try await remote.delete(.card("b")) }
        #expect(outcome.hasPrefix(expected))
        // The batch, then the look-up of its first part.
        kinto.fail(.fields([:]), fault)
        let deletes = ["b", "c"].map { RemoteRequest(.delete, item: .card(ServerID($0))) }
        let outcomes = try await remote.send(deletes).map(\.line)
        #expect(outcomes.count == 2 && outcomes[0].hasPrefix(expected) && outcomes[1] == "notFound")
    }

    /// The status of an update shows that the record can't be written. A pull then detects that it is hidden.
    @Test func `an update of a hidden record is refused without a look-up`() async {
        let kinto = kinto(.init(visible: ["a"]))
        let remote = KintoRemote(kinto)
        let outcome = await line { () async throws(RemoteFailure) in try await remote.update(.card("b")) }
        #expect(outcome.hasPrefix("refused 403"))
        #expect(kinto.requests.count == 1)
    }

    @Test func `a list without any visible record is refused with the possible reasons`() async {
        let remote = KintoRemote(kinto(.init()))
        let outcome = await line { () async throws(RemoteFailure) in try await remote.page(changes()) }
        #expect(outcome.hasPrefix("refused 403") && outcome.hasSuffix("may not read any record of the collection."))
    }
}
