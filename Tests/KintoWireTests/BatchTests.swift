import HTTPTypes
import KintoWire
import Tandem
import TandemSync
import TestSupport
import Testing

@Suite(.ownThreads) struct BatchTests {
    private func inserts(_ ids: ServerID...) -> [RemoteRequest] {
        ids.map { RemoteRequest(.insert, item: .card($0)) }
    }

    private func outcomes(_ remote: KintoRemote, _ requests: [RemoteRequest]) async -> [String] {
        do throws(RemoteFailure) {
            return try await remote.send(requests).map(\.line)
        } catch {
            return ["thrown \(error.line)"]
        }
    }

    @Test func `writes of all kinds share a request, and each has its own outcome`() async throws {
        let kinto = FakeKinto("Card", "Person")
        let a = kinto.put("a", [("shop", .text("x")), ("other", .integer(1))])
        let b = kinto.put("b")
        kinto.put("c")
        let remote = KintoRemote(kinto)
        let requests = [
            RemoteRequest(.insert, item: .card("new")), RemoteRequest(.update, item: .card("a", version: String(a))),
            RemoteRequest(.delete, item: .card("b", version: String(b))),
            RemoteRequest(.insert, item: .card("c")), RemoteRequest(.update, item: .card("gone", version: "5")),
            RemoteRequest(.insert, item: OutgoingItem(table: "Person", id: "p", members: [("name", .text("Анна"))])),
        ]
        #expect(
            await outcomes(remote, requests) == [
                "stored new", "stored a", "stored b", "conflict 412 with c", "notFound", "stored p",
            ])
        #expect(kinto.requests == ["POST /v1/batch"])
        #expect(kinto.live() == ["a", "c", "new"] && kinto.live(in: "Person") == ["p"])
        #expect(kinto.record("a")?.members.contains { $0.key == "other" } == true)
        let first = """
            {"requests":[{"body":{"data":{"shop":"Лента"}},"headers":{"If-None-Match":"*"},"method":"PUT",\
            "path":"/buckets/b/collections/Card/records/new"},
            """
        #expect(kinto.bodies[0].hasPrefix(first))
    }

    @Test func `a response in a batch has the version and the time of a single response`() async throws {
        let kinto = FakeKinto("Card")
        kinto.fail(.fields([.init("Backoff")!: "5"]))
        let results = try await KintoRemote(kinto).send(inserts("a", "b"))
        for (id, result) in zip(["a", "b"], results) {
            let response = try result.get()
            #expect(response.version == kinto.record(id).map { String($0.time) })
            #expect(response.serverDate != nil && response.backoff == .seconds(5))
        }
    }

    @Test func `a write that can't be encoded blocks no other`() async {
        let kinto = FakeKinto("Card")
        let requests =
            inserts("a") + [
                RemoteRequest(.insert, item: .card("-b")),
                RemoteRequest(.insert, item: .card("c", [("shop", .text("\u{0}"))])),
            ] + inserts("d")
        #expect(
            await outcomes(KintoRemote(kinto), requests) == [
                "stored a", "notEncodable invalidID", "notEncodable value", "stored d",
            ])
    }

    @Test func `an undelete in a batch compares its tombstone`() async {
        let kinto = FakeKinto("Card")
        kinto.put("a")
        kinto.put("b")
        let a = kinto.delete("a")
        kinto.delete("b")
        let requests =
            [
                RemoteRequest(.undelete, item: .card("a", version: String(a))),
                RemoteRequest(.undelete, item: .card("b", version: "7")),
            ] + inserts("c", "d")
        #expect(
            await outcomes(KintoRemote(kinto), requests) == [
                "stored a", "conflict 412 with b", "stored c", "stored d",
            ])
        #expect(kinto.live() == ["a", "c", "d"])
    }

    // MARK: Contention

    @Test(arguments: 0..<4)
    func `writes that a 409 has undone are sent again, although they report success`(index: Int) async {
        let kinto = FakeKinto("Card")
        kinto.fail(.contention(at: index))
        #expect(
            await outcomes(KintoRemote(kinto), inserts("a", "b", "c", "d"))
                == ["stored a", "stored b", "stored c", "stored d"])
        #expect(kinto.live() == ["a", "b", "c", "d"])
        #expect(kinto.requests.count == 2)
        // The writes after the 409 are stored and not sent again.
        let again = ["a", "b", "c", "d"].filter { kinto.bodies[1].contains("records/\($0)\"") }
        #expect(again == Array(["a", "b", "c", "d"].prefix(index + 1)))
    }

    @Test func `outcomes before a 409 that are no success stand`() async {
        let kinto = FakeKinto("Card")
        kinto.put("a")
        kinto.fail(.contention(at: 2))
        #expect(
            await outcomes(KintoRemote(kinto), inserts("a", "b", "c"))
                == ["conflict 412 with a", "stored b", "stored c"])
        #expect(!kinto.bodies[1].contains("records/a\""))
    }

    @Test func `a batch that always meets another writer is put off`() async {
        let kinto = FakeKinto("Card")
        for _ in 0..<100 { kinto.fail(.contention(at: 1)) }
        #expect(
            await outcomes(KintoRemote(kinto), inserts("a", "b", "c")) == ["later 409 -", "later 409 -", "stored c"])
        #expect(kinto.live() == ["c"])
        #expect(kinto.requests.count < 20)
    }

    // MARK: Failures of the whole batch

    @Test func `a failure of the whole batch is thrown`() async {
        let faults: [(FakeKinto.Fault, String)] = [
            (.lostRequest, "thrown notSent Lost"), (.lostResponse, "thrown lost Lost"),
            (.response(503, [.retryAfter: "3"]), "thrown later 503 3.0 seconds"),
            (.response(500), "thrown later 500 -"), (.response(302), "thrown later 302 -"),
            (.response(200, [.contentType: "text/html"], "<p>Sign in</p>"), "thrown invalidResponse notJSON"),
            (
                .response(200, [.contentType: "application/json"], "{\"responses\":[]}"),
                "thrown invalidResponse wrongType"
            ),
            (
                .response(200, [.contentType: "application/json"], "{\"responses\":[{},{}]}"),
                "thrown invalidResponse wrongType"
            ),
            (.response(200), "thrown invalidResponse notJSON"), (.response(202), "thrown invalidResponse status"),
        ]
        for (fault, expected) in faults {
            let kinto = FakeKinto("Card")
            kinto.fail(fault)
            #expect(await outcomes(KintoRemote(kinto), inserts("a", "b")) == [expected])
            #expect(kinto.requests.count == 1)
        }
    }

    @Test func `a failure after a part of the batch is stored is the outcome of the others`() async {
        let kinto = FakeKinto("Card")
        kinto.fail(.contention(at: 1), .lostResponse)
        #expect(
            await outcomes(KintoRemote(kinto), inserts("a", "b", "c")) == ["lost Lost", "lost Lost", "stored c"])
    }

    @Test func `a part that is not valid is the outcome of its write only`() async {
        let kinto = FakeKinto("Card")
        let body = """
            {"responses":[{"status":201,"body":{"data":{"id":"a","last_modified":5}}},\
            {"status":201,"body":{"data":[]}},{"status":201,"body":{"data":{"id":"x","last_modified":6}}},\
            {"status":503,"body":{}},{"status":200}]}
            """
        kinto.fail(.response(200, [.contentType: "application/json"], body))
        #expect(
            await outcomes(KintoRemote(kinto), inserts("a", "b", "c", "d", "e")) == [
                "stored a", "invalidResponse wrongType", "invalidResponse otherItem", "later 503 -",
                "invalidResponse status",
            ])
    }

    @Test func `a batch that the server refuses as a whole is thrown, and the limit is read again`() async throws {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        #expect(try await remote.batchLimit() == 25)
        kinto.state.withLock { $0.batchMaximum = .integer(2) }
        let outcome = await outcomes(remote, inserts("a", "b", "c"))
        #expect(outcome.count == 1 && outcome[0].hasPrefix("thrown refused 400 Number of requests is limited to 2"))
        #expect(kinto.live().isEmpty)
        #expect(try await remote.batchLimit() == 2)
        kinto.fail(.response(413))
        #expect(await outcomes(remote, inserts("a", "b")) == ["thrown refused 413 "])
    }

    @Test func `a single write is not a batch, and its failure is its outcome`() async {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        #expect(await outcomes(remote, inserts("a")) == ["stored a"])
        #expect(kinto.requests == ["PUT /v1/buckets/b/collections/Card/records/a"])
        kinto.fail(.lostResponse)
        #expect(await outcomes(remote, inserts("b")) == ["lost Lost"])
    }

    // MARK: The limit

    @Test func `the limit is learned once`() async throws {
        let kinto = FakeKinto("Card")
        let remote = KintoRemote(kinto)
        for _ in 0..<3 { #expect(try await remote.batchLimit() == 25) }
        #expect(kinto.requests == ["GET /v1/"])
    }

    @Test(arguments: [("null", 100), ("0", 100), ("5", 5), ("9007199254740993", 1000)])
    func `a server without a limit or with a large one gets batches of a reasonable size`(
        text: String, expected: Int
    ) async throws {
        let kinto = FakeKinto("Card")
        kinto.fail(
            .response(200, [.contentType: "application/json"], "{\"settings\":{\"batch_max_requests\":\(text)}}"))
        #expect(try await KintoRemote(kinto).batchLimit() == expected)
    }

    @Test(arguments: ["<p>Sign in</p>", "{}", "{\"settings\":{\"batch_max_requests\":-1}}", "[]"])
    func `an invalid description of the server does not set a limit`(body: String) async throws {
        let kinto = FakeKinto("Card")
        kinto.fail(.response(200, [.contentType: body.hasPrefix("<") ? "text/html" : "application/json"], body))
        let remote = KintoRemote(kinto)
        let outcome = await line { () async throws(RemoteFailure) in try await remote.batchLimit() }
        #expect(outcome.hasPrefix("invalidResponse"))
        #expect(try await remote.batchLimit() == 25)
    }
}
