import HTTPTypes
import KintoWire
import Tandem
import TandemSync
import TestSupport
import Testing

/// The failure that each status of Kinto stands for.
@Suite(.ownThreads) struct FailureTests {
    private static let json: HTTPFields = [.contentType: "application/json"]

    private func failure(of fault: FakeKinto.Fault, knowing isKnown: Bool = true) async throws -> [String] {
        var lines: [String] = []
        for act in 0..<3 {
            let kinto = FakeKinto("Card")
            let remote = KintoRemote(kinto)
            if isKnown { _ = try await remote.find("Card", key: .id("a")) }
            kinto.fail(fault)
            lines.append(
                await line { () async throws(RemoteFailure) in
                    switch act {
                    case 0: _ = try await remote.update(.card("a", version: "5"))
                    case 1: _ = try await remote.insert(.card("a"))
                    default: _ = try await remote.find("Card", key: .id("a"))
                    }
                })
        }
        return lines
    }

    private func all(_ line: String) -> [String] { [line, line, line] }

    @Test func `every status has its failure`() async throws {
        let invalid = #"{"message":"Invalid","details":[{"name":"x","description":"x in body: Required"}]}"#
        let unknown = #"{"details":{"resource_name":"record","id":"a"}}"#
        let rows: [(FakeKinto.Fault, [String])] = [
            (.response(400, Self.json, invalid), all("refused 400 Invalid x in body: Required")),
            (.response(401, Self.json, "{}"), all("unauthenticated 401")),
            (.response(403, Self.json, #"{"message":"No access."}"#), all("refused 403 No access.")),
            (.response(404, Self.json, unknown), ["notFound", "notFound", "invalidResponse status"]),
            (.response(405), all("refused 405 ")), (.response(406), all("refused 406 ")),
            (.response(408), all("later 408 -")),
            (
                .response(410, Self.json, #"{"message":"The service has ended."}"#),
                all("refused 410 The service has ended.")
            ),
            (.response(413), all("refused 413 ")), (.response(415), all("refused 415 ")),
            (.response(425), all("later 425 -")),
            (.response(429, [.retryAfter: "7"]), all("later 429 7.0 seconds")),
            (.response(500), all("later 500 -")), (.response(502), all("later 502 -")),
            (.response(503, [.retryAfter: "3"]), all("later 503 3.0 seconds")),
            (.response(503, [.init("Backoff")!: "9"]), all("later 503 9.0 seconds")),
            (.response(503, [.retryAfter: "soon"]), all("later 503 -")), (.response(302), all("later 302 -")),
            (.lostRequest, all("notSent Lost")), (.lostResponse, all("lost Lost")),
        ]
        for (fault, expected) in rows { #expect(try await failure(of: fault) == expected) }
    }

    @Test func `a 404 that is not Kinto's does not report a record as missing`() async throws {
        let page = FakeKinto.Fault.response(404, [.contentType: "text/html"], "<p>Not found</p>")
        let message = "No Kinto server responds at https://shop.example/v1/buckets/b/collections/Card/records/a."
        #expect(
            try await failure(of: page) == [
                "refused 404 \(message)", "refused 404 \(message)", "invalidResponse status",
            ])
    }

    @Test func `a conflict without the server's record, or with another one, has no item`() async {
        for details in ["", #""existing":{"id":"z","last_modified":1}"#, #""existing":{"id":"a"}"#, #""existing":5"#] {
            let kinto = FakeKinto("Card")
            kinto.fail(.response(412, Self.json, "{\"details\":{\(details)}}"))
            let remote = KintoRemote(kinto)
            let outcome = await line { () async throws(RemoteFailure) in try await remote.insert(.card("a")) }
            #expect(outcome == "conflict 412 with nothing")
        }
    }

    @Test func `a message has no control characters and a limited length`() async {
        let kinto = FakeKinto("Card")
        let text = "a\\u0007b" + String(repeating: "я", count: 600)
        kinto.fail(.response(400, Self.json, "{\"message\":\"\(text)\"}"))
        do throws(RemoteFailure) {
            _ = try await KintoRemote(kinto).insert(.card("a"))
            Issue.record("The insert succeeded.")
        } catch {
            guard case .refused(400, let message) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(message.hasPrefix("a bя") && message.unicodeScalars.count == 500)
        }
    }

    // MARK: Announcements

    @Test func `an announcement of the operator is reported once`() async throws {
        let kinto = FakeKinto("Card")
        let alert = HTTPField.Name("Alert")!
        let texts = [
            #"{"code":"soft-eol","message":"The service ends.","url":"https://shop.example/end"}"#,
            #"{"code":"soft-eol","message":"The service ends.","url":"https://shop.example/end"}"#,
            "Plain text", "[1]",
        ]
        for text in texts { kinto.fail(.fields([alert: text])) }
        try await confirmation(expectedCount: 3) { reported in
            let remote = KintoRemote(
                kinto,
                onAlert: { alert in
                    if alert.code == "soft-eol" {
                        #expect(
                            alert
                                == KintoAlert(
                                    code: "soft-eol", message: "The service ends.", url: "https://shop.example/end"))
                    }
                    reported()
                })
            for _ in texts { _ = try await remote.find("Card", key: .id("a")) }
        }
    }
}
