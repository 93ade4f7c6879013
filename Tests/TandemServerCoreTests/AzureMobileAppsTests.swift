import Foundation
import HTTPTypes
import TandemServerCore
import TestSupport
import Testing

/// The observed behavior of Azure Mobile Apps' Node backend, line by line.
@Suite(.ownThreads) struct AzureMobileAppsTests {
    private let server: ServerFixture

    init() throws { server = try ServerFixture(.azureMobileApps) }

    @Test(arguments: [
        ("2.0.0", 200), ("2.0.12", 200), ("3.0.0", 400), ("2.0", 400), ("2.0.", 400), ("2.1.0", 400), ("", 400),
        ("2.0.x", 400), ("12.0.0", 400),
    ])
    func `requests need a protocol version`(version: String, status: Int) async {
        #expect(await server.send(.get, "/tables/todo", [.version: version]).status == status)
        #expect(await plain(.get, "/tables/todo?Zumo-Api-Version=\(version)").status == status)
    }

    private func plain(_ method: HTTPRequest.Method, _ path: String, body: String = "") async -> ReceivedResponse {
        let request = HTTPRequest(method: method, scheme: "http", authority: "h", path: path)
        let (response, bytes) = await server.core.handle(request, body: Array(body.utf8))
        return ReceivedResponse(head: response, body: String(decoding: bytes, as: UTF8.self))
    }

    @Test func `a request without the version is not carried out`() async throws {
        let response = await plain(.post, "/tables/todo", body: #"{"id":"a"}"#)
        #expect(response.status == 400)
        #expect(
            response.body
                == #"""
                {"error":"An invalid API version was specified in the request, \#
                this request needs to specify a ZUMO-API-VERSION of 2.0.0."}
                """#
        )
        #expect(try server.core.rows(in: "todo").isEmpty)
    }

    @Test func `an insert returns the whole row`() async {
        let response = await server.send(.post, "/tables/Todo", [:], #"{"id":"a","text":"Лента","done":false}"#)
        #expect(response.status == 201)
        #expect(
            response.body
                == #"""
                {"id":"a","createdAt":"2026-11-21T03:14:33.887Z","updatedAt":"2026-11-21T03:14:33.887Z",\#
                "version":"MQ==","deleted":false,"text":"Лента","done":false}
                """#
        )
        #expect(response.tag == "\"MQ==\"")
        #expect(response.head.headerFields[.location] == nil)
        #expect(response.head.headerFields[.cacheControl] == "no-cache")
        #expect(response.head.headerFields[.contentType] == "application/json; charset=utf-8")
    }

    @Test(arguments: ["", "{}", #"{"id":null}"#, #"{"id":""}"#])
    func `a row without an ID gets a UUID`(body: String) async throws {
        let response = await server.send(.post, "/tables/todo", [:], body)
        #expect(response.status == 201)
        let text = try #require(response.object["id"] as? String)
        let id = try #require(UUID(uuidString: text))
        #expect(text == id.uuidString.lowercased())
        #expect(id.uuid.6 >> 4 == 4 && id.uuid.8 >> 6 == 2)
    }

    @Test func `an insert with an existing ID returns the request, not the row`() async {
        await server.send(.post, "/tables/todo", [:], #"{"id":"a","text":"server's"}"#)
        let sent = #"{"id":"a","text":"client's"}"#
        for isDeleted in [false, true] {
            if isDeleted { await server.send(.delete, "/tables/todo/a") }
            let response = await server.send(.post, "/tables/todo", [:], sent)
            #expect(response.status == 409)
            #expect(response.body == sent)
            #expect(response.tag?.hasPrefix("W/\"") == true)
        }
    }

    @Test(arguments: ["createdAt", "updatedAt", "deleted", "UPDATEDAT", "Deleted"])
    func `reserved members are refused`(name: String) async {
        await server.send(.post, "/tables/todo", [:], #"{"id":"b"}"#)
        for (method, path) in [(HTTPRequest.Method.post, "/tables/todo"), (.patch, "/tables/todo/b")] {
            let response = await server.send(method, path, [:], "{\"\(name)\":true}")
            #expect(response.status == 400)
            #expect(response.error == "Cannot update item with property '\(name)' as it is reserved")
        }
    }

    @Test func `a version in an insert is stored as its bytes`() async {
        let response = await server.send(.post, "/tables/todo", [:], #"{"id":"a","version":"QUJD"}"#)
        #expect(response.version == "UVVKRA==")
    }

    @Test func `a PATCH merges and increments the version`() async {
        await server.send(.post, "/tables/todo", [:], #"{"id":"a","text":"x","done":false}"#)
        server.time.advance(by: .milliseconds(5))
        let response = await server.send(.patch, "/tables/todo/a", [.ifMatch: "\"MQ==\""], #"{"done":true}"#)
        #expect(response.status == 200)
        #expect(
            response.body
                == #"""
                {"id":"a","createdAt":"2026-11-21T03:14:33.887Z","updatedAt":"2026-11-21T03:14:33.892Z",\#
                "version":"Mg==","deleted":false,"text":"x","done":true}
                """#
        )
        #expect(response.tag == "\"Mg==\"")
        for count in 3...11 {
            let next = await server.send(.patch, "/tables/todo", [:], #"{"id":"a","done":false}"#)
            #expect(next.version == Data(String(count).utf8).base64EncodedString())
        }
    }

    /// A method, a path, `If-Match`, a body, the status, and whether the response contains the row.
    @Test(arguments: [
        Row(.patch, "a", "\"MQ==\"", #"{"n":1}"#, 412, row: true),
        Row(.patch, "a", "\"Mg==\"", #"{"n":1}"#, 200, row: true),
        Row(.patch, "a", "Mg==", #"{"n":1}"#, 200, row: true),
        Row(.patch, "a", "*", #"{"n":1}"#, 412, row: true),
        Row(.patch, "a", nil, #"{"n":1}"#, 200, row: true),
        Row(.patch, "a", nil, #"{"n":1,"version":"MQ=="}"#, 409, row: true),
        Row(.patch, "a", nil, #"{"n":1,"version":"Mg=="}"#, 200, row: true),
        Row(.patch, "a", nil, #"{"id":"b","n":1}"#, 400),
        Row(.patch, "a", nil, "{}", 500),
        Row(.patch, "a", nil, "", 500),
        Row(.patch, "missing", nil, #"{"n":1}"#, 404),
        Row(.patch, "gone", nil, #"{"n":1}"#, 404),
        Row(.patch, "gone", "\"Mg==\"", #"{"n":1}"#, 404),
        Row(.delete, "a", "\"MQ==\"", "", 412, row: true),
        Row(.delete, "a", "\"Mg==\"", "", 200, row: true),
        Row(.delete, "a", nil, "", 200, row: true),
        Row(.delete, "gone", nil, "", 404),
        Row(.delete, "gone", "\"MQ==\"", "", 404),
        Row(.delete, "missing", nil, "", 404),
        Row(.post, "gone", nil, "", 201, row: true),
        Row(.post, "gone", "\"Mg==\"", "", 201, row: true),
        Row(.post, "gone", "\"MQ==\"", "", 412, row: true),
        Row(.post, "a", nil, "", 201, row: true),
        Row(.post, "missing", nil, "", 404),
        Row(.get, "a", nil, "", 200, row: true),
        Row(.get, "gone", nil, "", 404),
        Row(.get, "gone?__includeDeleted=true", nil, "", 404),
        Row(.get, "missing", nil, "", 404),
        Row(.head, "a", nil, "", 500),
    ])
    func `a request for one row gets the observed response`(_ row: Row) async {
        await prepare()
        var fields: HTTPFields = [:]
        if let ifMatch = row.ifMatch { fields[.ifMatch] = ifMatch }
        let response = await server.send(row.method, "/tables/todo/\(row.id)", fields, row.body)
        #expect(response.status == row.status, "\(row) \(response.body)")
        if row.hasRow {
            #expect(response.object["id"] as? String == String(row.id.prefix { $0 != "?" }))
            #expect(response.tag == "\"\(response.version)\"")
        } else {
            #expect(response.error != nil)
            #expect(response.tag?.hasPrefix("W/") == true)
        }
        if row.status == 404 { #expect(response.body == #"{"error":"The item does not exist"}"#) }
    }

    /// Prepares two rows of version 2, one of them deleted.
    private func prepare() async {
        for id in ["a", "gone"] { await server.send(.post, "/tables/todo", [:], "{\"id\":\"\(id)\",\"n\":0}") }
        await server.send(.patch, "/tables/todo/a", [:], #"{"n":7}"#)
        await server.send(.delete, "/tables/todo/gone")
    }

    @Test func `a delete returns the tombstone and an undelete the row`() async {
        await prepare()
        let deleted = await server.send(.delete, "/tables/todo/a", [.ifMatch: "\"Mg==\""])
        #expect(deleted.object["deleted"] as? Bool == true)
        #expect(deleted.version == "Mw==")
        let live = await server.send(.post, "/tables/todo/a", [.ifMatch: "\"Mw==\""])
        #expect(live.object["deleted"] as? Bool == false)
        #expect(live.version == "NA==")
        #expect(live.object["n"] as? Int == 7)
    }

    @Test func `a table without tombstones removes deleted rows`() async throws {
        let server = try ServerFixture(.azureMobileApps) { $0.tables["hard"] = ServerTable(deletesSoftly: false) }
        await server.send(.post, "/tables/hard", [:], #"{"id":"a","n":1}"#)
        let deleted = await server.send(.delete, "/tables/hard/a")
        #expect(deleted.status == 200)
        #expect(deleted.object["n"] as? Int == 1)
        #expect(deleted.object["deleted"] == nil)
        #expect(await server.send(.delete, "/tables/hard/a").status == 404)
        #expect(await server.send(.post, "/tables/hard", [:], #"{"id":"a","n":2}"#).status == 201)
    }

    @Test func `the second of two equal patches fails its precondition`() async {
        await prepare()
        let statuses = await withTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask {
                    await server.send(.patch, "/tables/todo/a", [.ifMatch: "\"Mg==\""], "{\"n\":\(number)}").status
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.sorted() == [200] + Array(repeating: 412, count: 7))
    }

    @Test func `columns grow and occur in each row`() async {
        await server.send(.post, "/tables/todo", [:], #"{"id":"a","text":"x"}"#)
        await server.send(.post, "/tables/todo", [:], #"{"id":"b","extra":1}"#)
        let items = await server.list("todo", [:]).items
        #expect(items.map { $0["extra"] is NSNull } == [true, false])
        #expect(items.map { $0["text"] is NSNull } == [false, true])
    }

    /// The values in a column: the first, a later one, and the stored result.
    @Test(arguments: [
        ("1", "9007199254740993", "9007199254740992"), ("true", "\"yes\"", "true"), ("\"x\"", "17", "\"17\""),
        ("\"x\"", "{\"a\":1}", "\"[object Object]\""), ("1", "0.1", "0.1"), ("1", "3.0", "3"), ("1", "null", "null"),
        ("null", "5", "5"), ("false", "0", "false"), ("\"x\"", "\"\\u0000😀ü ß\"", "\"\\u0000😀ü ß\""),
        ("1", "1e999", "null"),
    ])
    func `values are converted to their columns' types`(first: String, later: String, expected: String) async {
        await server.send(.post, "/tables/todo", [:], "{\"id\":\"a\",\"v\":\(first)}")
        let response = await server.send(.patch, "/tables/todo/a", [:], "{\"v\":\(later)}")
        #expect(response.body.hasSuffix("\"v\":\(expected)}"), "\(response.body)")
    }

    @Test(arguments: [
        (#"{"a-b":1}"#, 500), (#"{"1a":1}"#, 500), (#"{"a":[1]}"#, 500), (#"{"a":{"b":1}}"#, 500), ("[1]", 500),
        ("{", 400), ("{'a':1}", 400), (#"{"a":1,}"#, 400), (#"{"a":NaN}"#, 400), ("{\"a\":\"\u{1}\"}", 400),
    ])
    func `invalid bodies are refused`(body: String, status: Int) async {
        let response = await server.send(.post, "/tables/todo", [:], body)
        #expect(response.status == status)
        #expect(response.error != nil)
    }

    @Test func `the type and the size of a body are checked`() async {
        let text = await server.send(.post, "/tables/todo", [.contentType: "text/plain"], #"{"id":"a"}"#)
        #expect(text.status == 500)
        let large = await server.send(
            .post, "/tables/todo", [:], "{\"a\":\"\(String(repeating: "x", count: 102_400))\"}")
        #expect(large.status == 400)
        #expect(large.error == "request entity too large")
        #expect(await plain(.post, "/tables/todo?zumo-api-version=2.0.0", body: #"{"id":"b"}"#).status == 201)
    }

    @Test func `a missing path gets an HTML page`() async throws {
        let server = try ServerFixture(.azureMobileApps) {
            $0.otherTables = nil
            $0.tables["Known"] = ServerTable()
        }
        #expect(await server.send(.get, "/tables/kNOWN").status == 200)
        for (method, path) in [
            (HTTPRequest.Method.get, "/tables/unknown"), (.put, "/tables/known/a"), (.get, "/"), (.get, "/api/x"),
            (.get, "/tables/known/a/b"), (.delete, "/tables/known"),
        ] {
            let response = await server.send(method, path)
            #expect(response.status == 404)
            #expect(response.head.headerFields[.contentType]?.hasPrefix("text/html") == true, "\(path)")
        }
    }
}

/// A request for one row, and the expected result.
struct Row: Sendable, CustomTestStringConvertible {
    let method: HTTPRequest.Method
    let id: String
    let ifMatch: String?
    let body: String
    let status: Int
    let hasRow: Bool

    init(
        _ method: HTTPRequest.Method, _ id: String, _ ifMatch: String?, _ body: String, _ status: Int,
        row: Bool = false
    ) {
        self.method = method
        self.id = id
        self.ifMatch = ifMatch
        self.body = body
        self.status = status
        hasRow = row
    }

    var testDescription: String { "\(method) \(id) If-Match: \(ifMatch ?? "-") \(body) → \(status)" }
}
