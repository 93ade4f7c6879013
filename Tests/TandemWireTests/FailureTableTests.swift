import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemSync
import TestSupport
import Testing

/// The failure for each status and body, for each kind of request.
@Suite(.ownThreads) struct FailureTableTests {
    private static let json: HTTPFields = [.contentType: "application/json; charset=utf-8"]
    private static let html: HTTPFields = [.contentType: "text/html"]
    private static let row = #"{"id":"018f","version":"Mw==","shop":"Магнит"}"#

    private static func all(_ line: String, page: String? = nil) -> [String] {
        Array(repeating: line, count: 4) + [page ?? line]
    }

    private static let noTable = "refused No table exists at https://shop.example/api/tables/Card."

    struct Row: CustomTestStringConvertible, Sendable {
        var status: Int
        var fields: HTTPFields = [:]
        var body = ""
        /// The failures of an insert, an update, a delete, an undelete, and a page.
        var expected: [String]
        var testDescription: String { "\(status) \(body.prefix(30))" }
    }

    static let both: [Row] = [
        Row(status: 400, fields: json, body: #"{"error":"bad\nname"}"#, expected: all("refused bad name")),
        Row(
            status: 400, fields: json, body: #"[{"errorMessage":"a"},{"errorMessage":"b"}]"#,
            expected: all("refused a b")),
        Row(status: 400, fields: json, body: #""неверно""#, expected: all("refused неверно")),
        Row(status: 400, expected: all("refused ")),
        Row(status: 400, fields: html, body: "<h1>No</h1>", expected: all("refused ")),
        Row(status: 401, expected: all("unauthenticated 401")),
        Row(status: 403, expected: all("refused ")),
        Row(status: 404, expected: all("notFound", page: noTable)),
        Row(
            status: 404, fields: json, body: #"{"error":"The item does not exist"}"#,
            expected: all("notFound", page: noTable)),
        Row(
            status: 404, fields: html, body: "<html>",
            expected: ["Card", "Card/018f", "Card/018f", "Card/018f", "Card"].map {
                "refused No table exists at https://shop.example/api/tables/\($0)."
            }),
        Row(status: 410, expected: all("gone", page: noTable)),
        Row(status: 408, expected: all("later some time")),
        Row(status: 415, expected: all("refused ")),
        Row(status: 425, expected: all("later some time")),
        Row(status: 429, fields: [.retryAfter: "7"], expected: all("later in 7 s")),
        Row(
            status: 503,
            fields: [.retryAfter: "Sat, 21 Nov 2026 03:15:00 GMT", .date: "Sat, 21 Nov 2026 03:14:30 GMT"],
            expected: all("later in 30 s")),
        Row(
            status: 503,
            fields: [.retryAfter: "Sat, 21 Nov 2026 03:14:00 GMT", .date: "Sat, 21 Nov 2026 03:14:30 GMT"],
            expected: all("later in 0 s")),
        Row(status: 503, fields: [.retryAfter: "99999999999999999999"], expected: all("later some time")),
        Row(status: 503, fields: [.retryAfter: "-1"], expected: all("later some time")),
        Row(status: 503, fields: [.retryAfter: "soon"], expected: all("later some time")),
        Row(status: 500, fields: json, body: #"{"error":"x"}"#, expected: all("later some time")),
        Row(status: 502, fields: html, body: "<html>", expected: all("later some time")),
        Row(status: 302, fields: [.location: "https://portal/"], expected: all("later some time")),
        Row(status: 304, expected: all("later some time")),
        Row(status: 202, expected: all("bad status")),
        Row(status: 206, fields: json, body: row, expected: all("bad status")),
        Row(status: 299, expected: all("bad status")),
        Row(
            status: 412, fields: json, body: row,
            expected: Array(repeating: "conflict with Mw==", count: 4) + ["conflict without item"]),
        Row(status: 412, expected: all("conflict without item")),
        Row(status: 409, fields: html, body: "<html>", expected: all("conflict without item")),
        Row(status: 409, fields: json, body: #"{"id":"018f","#, expected: all("conflict without item")),
        Row(status: 412, fields: json, body: #"{"id":"other"}"#, expected: all("conflict without item")),
        Row(status: 412, fields: json, body: #"{"id":7}"#, expected: all("conflict without item")),
    ]

    static func lines(_ wire: Wire, _ row: Row) throws -> [String] {
        let writes = [
            try wire.writer.insert(.card()), try wire.writer.update(.card()), try wire.writer.delete(.card()),
            try wire.writer.undelete(.card()),
        ]
        let body = Array(row.body.utf8)
        var lines = writes.map { request in
            failure { () throws(RemoteFailure) in
                try wire.reader.remoteResponse(response(row.status, row.fields), body: body, to: request)
            }?.line ?? "none"
        }
        let page = try wire.writer.page(PageRequest(table: "Card", order: .id(after: nil)))
        lines.append(
            failure { () throws(RemoteFailure) in
                try wire.reader.page(response(row.status, row.fields), body: body, to: page)
            }?.line ?? "none")
        return lines
    }

    @Test(arguments: Wire.allCases, both) func `each response has its failure in both dialects`(
        wire: Wire, row: Row
    ) throws {
        let expected = row.expected.map { wire == .datasync ? $0.replacing("/Card", with: "/card") : $0 }
        #expect(try Self.lines(wire, row) == expected)
    }

    /// A 409 with the echoed request and a weak tag does not contain the server's row.
    @Test func `the request echoed by Azure Mobile Apps is not the server's row`() throws {
        var row = Row(status: 409, fields: Self.json, body: Self.row, expected: [])
        row.fields[.eTag] = "W/\"1-x\""
        #expect(try Self.lines(.azure, row)[0] == "conflict without item")
        #expect(try Self.lines(.azure, row)[1] == "conflict with Mw==")
        #expect(try Self.lines(.datasync, row)[0] == "conflict with Mw==")
    }

    @Test func `the version of a conflict may be in its entity tag`() throws {
        let row = Row(
            status: 412, fields: [.contentType: "application/json", .eTag: "\"Mw==\""], body: #"{"id":"018f"}"#,
            expected: [])
        #expect(try Self.lines(.datasync, row)[1] == "conflict with Mw==")
    }

    /// A conflict may concern something else than the version. The members of an item are not a message.
    @Test(
        arguments: Wire.allCases,
        [
            (#"{"error":"The number is taken."}"#, "The number is taken."), (#"{"id":"018f","title":"Лента"}"#, ""),
            (#"{"id":"other","error":"x"}"#, ""), ("", ""), ("<html>", ""),
        ])
    func `the message of a conflict is kept`(wire: Wire, row: (body: String, message: String)) throws {
        for request in [try wire.writer.insert(.card()), try wire.writer.update(.card())] {
            let failure = failure { () throws(RemoteFailure) in
                try wire.reader.remoteResponse(response(409, Self.json), body: Array(row.body.utf8), to: request)
            }
            guard case .conflict(409, _, let detail)? = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
            #expect(detail.message == row.message)
        }
    }

    @Test func `another status can ask for credentials`() throws {
        var dialect = Dialect.datasync
        dialect.unauthenticated = [401, 403]
        let reader = ResponseDecoder(dialect, at: Wire.address)
        let request = try Wire.datasync.writer.update(.card())
        let line = failure { () throws(RemoteFailure) in
            try reader.remoteResponse(response(403, [:]), body: [], to: request)
        }?.line
        #expect(line == "unauthenticated 403")
    }

    @Test func `a server's message is limited`() throws {
        let body = #"{"error":"\#(String(repeating: "ж", count: 5000))"}"#
        let row = Row(status: 400, fields: Self.json, body: body, expected: [])
        #expect(try Self.lines(.azure, row)[0] == "refused " + String(repeating: "ж", count: 500))
    }

    @Test func `failures know whether the server may have acted`() {
        struct Some: Error {}
        let acted: [RemoteFailure] = [
            .lost(Some()), .later(status: 408, retryAfter: nil), .later(status: 500, retryAfter: nil),
            .later(status: 503, retryAfter: .seconds(1)),
            .invalidResponse(InvalidResponse(.status, message: "", table: "Card", url: "", status: 202)),
        ]
        let not: [RemoteFailure] = [
            .notSent(Some()), .unauthenticated(status: 401, underlying: nil), .conflict(status: 409, item: nil), .gone,
            .notFound, .refused(status: 400, message: ""), .later(status: 425, retryAfter: nil),
            .later(status: 429, retryAfter: nil), .notEncodable(RequestEncodingError(.value, message: "")),
        ]
        for failure in acted { #expect(failure.mayHaveActed, "\(failure)") }
        for failure in not { #expect(!failure.mayHaveActed, "\(failure)") }
        #expect(RemoteFailure.lost(CancellationError()).isCancellation)
        #expect(!RemoteFailure.lost(Some()).isCancellation)
        // The user cancelled the sign-in, but the call was not cancelled.
        #expect(!RemoteFailure.unauthenticated(status: 401, underlying: CancellationError()).isCancellation)
    }
}
