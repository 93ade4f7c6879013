import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemSync
import TestSupport
import Testing

/// Invalid responses: each has its own error code, and is refused completely.
@Suite(.ownThreads) struct HostileResponseTests {
    /// Returns the codes for an item in the response to an update and on a page.
    private func codes(_ item: String) throws -> Set<InvalidResponse.Code?> {
        var codes: Set<InvalidResponse.Code?> = []
        for wire in Wire.allCases {
            let update = try wire.writer.update(.card())
            codes.insert(
                invalidResponse { () throws(RemoteFailure) in
                    try wire.reader.remoteResponse(response(200), body: Array(item.utf8), to: update)
                })
            let page = try wire.writer.page(PageRequest(table: "Card", order: .id(after: nil)))
            let text = wire == .azure ? "[\(item)]" : #"{"items":[\#(item)]}"#
            codes.insert(
                invalidResponse { () throws(RemoteFailure) in
                    try wire.reader.page(response(200), body: Array(text.utf8), to: page)
                })
        }
        return codes
    }

    @Test(
        arguments: [
            (#"{"shop":"x"}"#, .missingID), (#"{"id":null}"#, .missingID), (#"{"ID":"018f"}"#, .missingID),
            (#"{"id":""}"#, .invalidID), (#"{"id":"a\u0000b"}"#, .invalidID), (#"{"id":"a\nb"}"#, .invalidID),
            (#"{"id":"\#(String(repeating: "й", count: 128))"}"#, .invalidID), (#"{"id":18}"#, .wrongType),
            (#"{"id":{"$oid":"x"}}"#, .wrongType), (#"{"id":["018f"]}"#, .wrongType), (#"{"id":true}"#, .wrongType),
            (#"{"id":"018f","version":7}"#, .wrongType), (#"{"id":"018f","version":{}}"#, .wrongType),
            (#"{"id":"018f","version":""}"#, .invalidVersion), (#"{"id":"018f","version":"a\"b"}"#, .invalidVersion),
            (#"{"id":"018f","version":"a\r\nX: y"}"#, .invalidVersion),
            (#"{"id":"018f","version":"верс"}"#, .invalidVersion),
            (#"{"id":"018f","version":"\#(String(repeating: "x", count: 4097))"}"#, .invalidVersion),
            (#"{"id":"018f","deleted":"yes"}"#, .wrongType), (#"{"id":"018f","deleted":1}"#, .wrongType),
            (#"{"id":"018f","updatedAt":1700000000}"#, .wrongType),
            (#"{"id":"018f","updatedAt":"yesterday"}"#, .invalidTime),
            (#"{"id":"018f","updatedAt":"2026-02-29T00:00:00Z"}"#, .invalidTime),
            (#"{"id":"018f","updatedAt":""}"#, .invalidTime), (#"{"id":"018f","id":"018f"}"#, .notJSON),
            (#"{"id":"018f","shop":1,"\u0073hop":2}"#, .notJSON), ("7", .wrongType), ("\"018f\"", .wrongType),
            ("null", .wrongType), ("[]", .wrongType), (#"{"id":"018f",}"#, .notJSON), (#"{"id":"018f"} x"#, .notJSON),
            (#"{"id":"018f","x":NaN}"#, .notJSON), (#"{"id":"018f","x":"\ud800"}"#, .notJSON),
            (#"{'id':'018f'}"#, .notJSON),
        ] as [(String, InvalidResponse.Code)])
    func `an invalid item is refused`(item: String, code: InvalidResponse.Code) throws {
        #expect(try codes(item) == [code])
    }

    @Test func `a million digits are refused`() throws {
        for number in [
            String(repeating: "9", count: 1_000_000), "0." + String(repeating: "1", count: 1_000_000),
            "1e" + String(repeating: "9", count: 1_000_000), "-" + String(repeating: "1", count: 10_000),
        ] {
            #expect(try codes(#"{"id":"018f","points":\#(number)}"#) == [.notJSON])
        }
        #expect(try codes(#"{"id":"018f","points":\#(String(repeating: "9", count: 10_000))}"#) == [nil])
    }

    @Test func `deep nesting is refused`() throws {
        for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
            let deep = String(repeating: open, count: 100_000) + "1" + String(repeating: close, count: 100_000)
            #expect(try codes(#"{"id":"018f","x":\#(deep)}"#) == [.notJSON])
            #expect(try codes(#"{"id":"018f","x":\#(String(repeating: open, count: 100_000))"#) == [.notJSON])
        }
    }

    @Test(arguments: Wire.allCases) func `a duplicate ID refuses the page`(wire: Wire) throws {
        let page = try wire.writer.page(PageRequest(table: "Card", order: .id(after: nil)))
        let items = #"[{"id":"a"},{"id":"b"},{"id":"\u0061"}]"#
        let body = wire == .azure ? items : #"{"items":\#(items)}"#
        #expect(
            invalidResponse { () throws(RemoteFailure) in
                try wire.reader.page(response(200), body: Array(body.utf8), to: page)
            } == .repeatedID)
    }

    @Test(arguments: Wire.allCases) func `too many items are refused`(wire: Wire) throws {
        let page = try wire.writer.page(PageRequest(table: "Card", order: .id(after: nil), top: 2))
        for (count, code) in [(4, nil), (5, .tooManyItems)] as [(Int, InvalidResponse.Code?)] {
            let items = (0..<count).map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
            let body = wire == .azure ? "[\(items)]" : #"{"items":[\#(items)]}"#
            #expect(
                invalidResponse { () throws(RemoteFailure) in
                    try wire.reader.page(response(200), body: Array(body.utf8), to: page)
                } == code)
        }
    }

    @Test func `decreasing times refuse the page`() throws {
        let page = try Wire.azure.writer.page(
            PageRequest(table: "Card", order: .updatedAt(from: WireTimestamp("2026-11-21T00:00:00Z"))))
        func code(_ times: String?...) -> InvalidResponse.Code? {
            let items = times.enumerated().map { index, time in
                #"{"id":"\#(index)","updatedAt":\#(time.map { "\"\($0)\"" } ?? "null")}"#
            }
            let body = Array("[\(items.joined(separator: ","))]".utf8)
            return invalidResponse { () throws(RemoteFailure) in
                try Wire.azure.reader.page(response(200), body: body, to: page)
            }
        }
        #expect(code("2026-11-21T00:00:00Z", "2026-11-21T00:00:00.000Z", "2026-11-21T00:00:01Z") == nil)
        #expect(code("2026-11-20T23:59:59.999Z") == .outOfOrder)
        #expect(code("2026-11-21T00:00:01Z", "2026-11-21T00:00:00Z") == .outOfOrder)
        #expect(code("2026-11-21T00:00:01Z", nil) == .noUpdatedAt)
    }

    @Test func `an invalid page is refused`() throws {
        let bodies: [(Wire, String)] = [
            (.azure, "{}"), (.azure, #"{"items":[]}"#), (.azure, #"{"results":{}}"#), (.azure, "7"), (.azure, "null"),
            (.datasync, "[]"), (.datasync, "{}"), (.datasync, #"{"items":null}"#), (.datasync, #"{"results":[]}"#),
            (.datasync, #"{"items":[],"count":"7"}"#), (.datasync, #"{"items":[],"count":-1}"#),
            (.datasync, #"{"items":[],"count":1.5}"#), (.datasync, #"{"items":[],"nextLink":7}"#),
            (.datasync, #"{"items":[],"nextLink":{}}"#), (.datasync, #"{"items":[7]}"#),
        ]
        for (wire, body) in bodies {
            let page = try wire.writer.page(PageRequest(table: "Card", order: .id(after: nil)))
            let code = invalidResponse { () throws(RemoteFailure) in
                try wire.reader.page(response(200), body: Array(body.utf8), to: page)
            }
            #expect(code == .wrongType, "\(wire) \(body)")
        }
    }

    @Test(arguments: ["text/html", "text/plain; charset=utf-8", "application/xml", "application/jsonp", "json", ""])
    func `an HTML page is not a valid response`(type: String) throws {
        let request = try Wire.azure.writer.update(.card())
        let body = Array(#"{"id":"018f"}"#.utf8)
        let code = invalidResponse { () throws(RemoteFailure) in
            try Wire.azure.reader.remoteResponse(response(200, [.contentType: type]), body: body, to: request)
        }
        #expect(code == .notJSON)
    }

    @Test(arguments: ["application/json", "APPLICATION/JSON ; charset=UTF-8", "application/vnd.x+json", "text/json"])
    func `JSON is recognized by its content type`(type: String) throws {
        let request = try Wire.azure.writer.update(.card())
        let body = Array(#"{"id":"018f"}"#.utf8)
        let head = response(200, [.contentType: type])
        #expect(try Wire.azure.reader.remoteResponse(head, body: body, to: request).item?.id == "018f")
        #expect(try Wire.azure.reader.remoteResponse(response(200, [:]), body: body, to: request).item?.id == "018f")
    }

    @Test func `a body beyond the limit is refused`() throws {
        var limits = ResponseLimits()
        limits.bytes = 12
        let reader = ResponseDecoder(.datasync, at: Wire.address, limits: limits)
        let request = try Wire.datasync.writer.insert(.card())
        #expect(try reader.remoteResponse(response(200), body: Array(#"{"id":"018"}"#.utf8), to: request).item != nil)
        #expect(
            invalidResponse { () throws(RemoteFailure) in
                try reader.remoteResponse(response(200), body: Array(#"{"id":"018f"}"#.utf8), to: request)
            } == .tooLarge)
    }

    @Test func `an invalid response names its source`() throws {
        let request = try Wire.azure.writer.find("Card", key: .property("secret", value: "пароль"))
        let failure = failure { () throws(RemoteFailure) in
            try Wire.azure.reader.found(response(200), body: Array("<html>".utf8), to: request)
        }
        let text = try #require(failure).description
        #expect(text.hasPrefix("Card: the server's response can't be used: The body is not valid JSON: "))
        #expect(text.hasSuffix("(https://shop.example/api/tables/Card, status 200)"))
        #expect(!text.contains("secret"))
        #expect(!text.contains("%D0"))
    }

    @Test func `an incomplete response is refused`() throws {
        let whole = Array(#"{"id":"018f","shop":"Лента 🛒","n":[1,{"a":null}]}"#.utf8)
        let request = try Wire.azure.writer.update(.card())
        for count in 1..<whole.count {
            let code = invalidResponse { () throws(RemoteFailure) in
                try Wire.azure.reader.remoteResponse(response(200), body: Array(whole.prefix(count)), to: request)
            }
            #expect(code == .notJSON, "\(count) bytes")
        }
    }

    /// The response to an undelete must not contain a deleted item.
    @Test(arguments: Wire.allCases) func `a deleted item in the response to an undelete is refused`(wire: Wire) throws {
        let request = try wire.writer.undelete(.card())
        let body = Array(#"{"id":"018f","deleted":true}"#.utf8)
        #expect(
            invalidResponse { () throws(RemoteFailure) in
                try wire.reader.remoteResponse(response(200), body: body, to: request)
            } == .wrongType)
    }
}
