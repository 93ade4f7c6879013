import HTTPTypes
import KintoWire
import RemoteHTTP
import Tandem
import TandemSync
import TestSupport
import Testing

/// Responses of a faulty server or proxy. Nothing of them is used.
@Suite(.ownThreads) struct HostileResponseTests {
    private static let json: HTTPFields = [.contentType: "application/json", .eTag: "\"9\""]

    private func page(_ body: String, fields: HTTPFields = json, top: Int = 2) async -> String {
        let kinto = FakeKinto("Card")
        kinto.fail(.response(200, fields, body))
        let remote = KintoRemote(kinto)
        let request = PageRequest(table: "Card", order: .updatedAt(from: nil), top: top, includeDeleted: true)
        return await line { () async throws(RemoteFailure) in try await remote.page(request) }
    }

    @Test(arguments: [
        ("", "notJSON"), ("<p>Sign in</p>", "notJSON"), (#"{"data":[{"id":"a","#, "notJSON"), ("[]", "wrongType"),
        ("{}", "wrongType"), (#"{"data":{}}"#, "wrongType"), (#"{"data":[5]}"#, "wrongType"),
        (#"{"data":[{"last_modified":5}]}"#, "missingID"), (#"{"data":[{"id":5,"last_modified":5}]}"#, "wrongType"),
        (#"{"data":[{"id":"","last_modified":5}]}"#, "invalidID"),
        (#"{"data":[{"id":"../x","last_modified":5}]}"#, "invalidID"),
        (#"{"data":[{"id":"я","last_modified":5}]}"#, "invalidID"), (#"{"data":[{"id":"a"}]}"#, "noUpdatedAt"),
        (#"{"data":[{"id":"a","last_modified":"5"}]}"#, "wrongType"),
        (#"{"data":[{"id":"a","last_modified":5.5}]}"#, "wrongType"),
        (#"{"data":[{"id":"a","last_modified":-5}]}"#, "invalidTime"),
        (#"{"data":[{"id":"a","last_modified":9223372036854775807}]}"#, "invalidTime"),
        (#"{"data":[{"id":"a","last_modified":1e400}]}"#, "wrongType"),
        (#"{"data":[{"id":"a","last_modified":5,"deleted":1}]}"#, "wrongType"),
        (#"{"data":[{"id":"a","last_modified":5},{"id":"a","last_modified":6}]}"#, "repeatedID"),
        (#"{"data":[{"id":"a","id":"a","last_modified":5}]}"#, "notJSON"),
        (#"{"data":[{"id":"a","last_modified":6},{"id":"b","last_modified":5}]}"#, "outOfOrder"),
        (
            #"{"data":[{"id":"a","last_modified":1},{"id":"b","last_modified":2},{"id":"c","last_modified":3}]}"#,
            "tooManyItems"
        ),
    ])
    func `a page that is not valid is refused`(body: String, code: String) async {
        #expect(await page(body) == "invalidResponse \(code)")
    }

    @Test func `a valid page beside these is accepted`() async {
        #expect(await page(#"{"data":[{"id":"a","last_modified":5},{"id":"b","last_modified":6}]}"#) == "success")
    }

    @Test func `a page of markup is refused, whatever its body`() async {
        #expect(await page(#"{"data":[]}"#, fields: [.contentType: "text/html"]) == "invalidResponse notJSON")
    }

    @Test func `records before the position are refused`() async throws {
        let kinto = FakeKinto("Card")
        kinto.fail(.response(200, Self.json, #"{"data":[{"id":"a","last_modified":5}]}"#))
        let remote = KintoRemote(kinto)
        let time = try #require(WireTimestamp("1970-01-01T00:00:00.006Z"))
        let request = PageRequest(table: "Card", order: .updatedAt(from: time))
        #expect(
            await line { () async throws(RemoteFailure) in try await remote.page(request) }
                == "invalidResponse outOfOrder")
    }

    @Test func `a body above the limit is refused`() async {
        var limits = ResponseLimits()
        limits.bytes = 50
        let kinto = FakeKinto("Card")
        kinto.put("a", [("shop", .text(String(repeating: "x", count: 100)))])
        let remote = KintoRemote(kinto, limits: limits)
        let outcome = await line { () async throws(RemoteFailure) in try await remote.find("Card", key: .id("a")) }
        #expect(outcome == "invalidResponse tooLarge")
    }

    @Test(arguments: [
        (200, #"{"data":{"id":"a","last_modified":5}}"#, "status"),
        (204, "", "status"), (202, "{}", "status"), (201, "", "notJSON"),
        (201, #"{"data":{"id":"b","last_modified":5}}"#, "otherItem"),
        (201, #"{"data":{"id":"a","last_modified":5,"deleted":true}}"#, "wrongType"), (201, "{}", "wrongType"),
        (201, #"{"data":{"id":"a","last_modified":5}"#, "notJSON"),
    ])
    func `a response to an insert that is not valid leaves the outcome unknown`(
        status: Int, body: String, code: String
    ) async {
        let kinto = FakeKinto("Card")
        kinto.fail(.response(status, Self.json, body))
        do throws(RemoteFailure) {
            _ = try await KintoRemote(kinto).insert(.card("a"))
            Issue.record("The insert succeeded.")
        } catch {
            #expect(error.line == "invalidResponse \(code)")
            #expect(error.mayHaveActed)
        }
    }

    @Test func `a delete whose response is a live record is refused`() async {
        let kinto = FakeKinto("Card")
        kinto.fail(.response(200, Self.json, #"{"data":{"id":"a","last_modified":5}}"#))
        let remote = KintoRemote(kinto)
        let outcome = await line { () async throws(RemoteFailure) in try await remote.delete(.card("a")) }
        #expect(outcome == "invalidResponse wrongType")
    }

    @Test func `a look-up that finds another record is refused`() async {
        let kinto = FakeKinto("Card")
        let body = #"{"data":[{"id":"b","last_modified":5,"code":1}]}"#
        kinto.fail(.response(200, Self.json, body), .response(200, Self.json, body))
        let remote = KintoRemote(kinto)
        for key in [RemoteKey.id("a"), .property("code", value: "1")] {
            let outcome = await line { () async throws(RemoteFailure) in try await remote.find("Card", key: key) }
            #expect(outcome == "invalidResponse otherItem")
        }
    }

    @Test(arguments: ["5", "{}", #"{"data":5}"#, #"{"data":{"id":"Card"}}"#, "<p>"])
    func `a collection that is not valid fails the pull`(body: String) async {
        let kinto = FakeKinto("Card")
        kinto.fail(.response(200, Self.json, body))
        let remote = KintoRemote(kinto)
        let request = PageRequest(table: "Card", order: .id(after: nil), wantsGeneration: true)
        let outcome = await line { () async throws(RemoteFailure) in try await remote.page(request) }
        #expect(outcome.hasPrefix("invalidResponse"))
        #expect(kinto.requests.count == 1)
    }
}
