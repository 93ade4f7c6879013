import Foundation
import HTTPTypes
import TandemServerCore
import TestSupport
import Testing

/// The behavior of the Datasync toolkit's server with one row.
@Suite(.ownThreads) struct DatasyncTests {
    private let server: ServerFixture

    init() throws { server = try ServerFixture(.datasync) }

    @Test func `an insert returns the row and its address`() async {
        let response = await server.send(
            .post, "/tables/card", [:], #"{"id":"x y/é","shop":"大润发","points":12345678901234567890.25,"o":{"a":[1]}}"#)
        #expect(response.status == 201)
        #expect(
            response.body
                == """
                {"id":"x y/é","updatedAt":"2026-11-21T03:14:33.887Z","version":"\(response.version)",\
                "deleted":false,"shop":"大润发","points":12345678901234567890.25,"o":{"a":[1]}}
                """
        )
        #expect(Data(base64Encoded: response.version)?.count == 16)
        #expect(response.tag == "\"\(response.version)\"")
        #expect(response.head.headerFields[.lastModified] == "Sat, 21 Nov 2026 03:14:33 GMT")
        #expect(response.head.headerFields[.location] == "http://127.0.0.1:8080/tables/card/x%20y%2F%C3%A9")
        #expect(await server.send(.get, "/tables/card/x%20y%2F%C3%A9").body == response.body)
    }

    @Test(arguments: ["{}", #"{"id":null}"#, #"{"id":""}"#, "{ // none\n}", #"{"a":1,}"#])
    func `a row without an ID gets 32 digits`(body: String) async {
        let response = await server.send(.post, "/tables/card", [:], body)
        #expect(response.status == 201)
        let id = response.object["id"] as? String ?? ""
        #expect(id.count == 32 && id.allSatisfy { $0.isHexDigit && !$0.isUppercase })
    }

    @Test func `reserved members in a request are ignored`() async {
        let response = await server.send(
            .post, "/tables/card", [:],
            #"{"Id":"a","UpdatedAt":"2000-01-01T00:00:00.000Z","VERSION":"AAAA","ID":"b","Deleted":false}"#)
        #expect(response.object.count == 4)
        #expect(response.object["updatedAt"] as? String == "2026-11-21T03:14:33.887Z")
        #expect(response.version != "AAAA")
        #expect(response.object["id"] as? String == "b")
    }

    /// The state of the row, a request and the expected result. `current` in `If-Match` is the row's version.
    @Test(arguments: [
        Row(.get, "live", nil, "", 200, row: true),
        Row(.get, "gone", nil, "", 410),
        Row(.get, "gone?__includedeleted=true", nil, "", 200, row: true),
        Row(.get, "gone?__IncludeDeleted=TRUE", nil, "", 200, row: true),
        Row(.get, "gone?__includedeleted=false", nil, "", 410),
        Row(.get, "missing", nil, "", 404),
        Row(.get, "live", "\"stale\"", "", 412, row: true),
        Row(.put, "live", nil, #"{"id":"live","n":2}"#, 200, row: true),
        Row(.put, "live", "current", #"{"id":"live","n":2}"#, 200, row: true),
        Row(.put, "live", "*", #"{"id":"live","n":2}"#, 200, row: true),
        Row(.put, "live", "unquoted", #"{"id":"live","n":2}"#, 200, row: true),
        Row(.put, "live", "W/current", #"{"id":"live","n":2}"#, 412, row: true),
        Row(.put, "live", "\"stale\"", #"{"id":"live","n":2}"#, 412, row: true),
        Row(.put, "live", "\"stale\", current", #"{"id":"live","n":2}"#, 500),
        Row(.put, "live", "\"stale\", \"old\"", #"{"id":"live","n":2}"#, 412, row: true),
        Row(.put, "live", nil, #"{"n":2}"#, 400),
        Row(.put, "live", nil, #"{"id":"LIVE","n":2}"#, 400),
        Row(.put, "live", nil, #"{"id":7}"#, 400),
        Row(.put, "live", nil, "{", 500),
        Row(.put, "live", nil, "[]", 500),
        Row(.put, "live", nil, #"{"id":"live","n":NaN}"#, 500),
        Row(.put, "live", nil, #"{"id":"live","deleted":true}"#, 200, row: true),
        Row(.put, "gone", nil, #"{"id":"gone"}"#, 410),
        Row(.put, "gone", "\"stale\"", #"{"id":"gone"}"#, 410),
        Row(.put, "gone?__includedeleted=true", nil, #"{"id":"gone","n":2}"#, 200, row: true),
        Row(.put, "gone?__includedeleted=true", "\"stale\"", #"{"id":"gone"}"#, 412, row: true),
        Row(.put, "missing", nil, #"{"id":"missing"}"#, 404),
        Row(.put, "missing", "*", #"{"id":"missing"}"#, 404),
        Row(.delete, "live", nil, "", 204),
        Row(.delete, "live", "current", "", 204),
        Row(.delete, "live", "\"stale\"", "", 412, row: true),
        Row(.delete, "gone", "current", "", 410),
        Row(.delete, "missing", nil, "", 404),
        Row(.patch, "live", nil, #"{"n":1}"#, 405),
        Row(.post, "live", nil, "{}", 405),
        Row(.head, "live", nil, "", 405),
    ])
    func `a request for one row gets the observed response`(_ row: Row) async throws {
        let versions = await prepare()
        let id = String(row.id.prefix { $0 != "?" })
        var fields: HTTPFields = [:]
        if let ifMatch = row.ifMatch {
            fields[.ifMatch] = ifMatch.replacing("current", with: "\"\(versions[id] ?? "none")\"")
        }
        let before = try server.core.rows(in: "card")
        let response = await server.send(row.method, "/tables/card/\(row.id)", fields, row.body)
        #expect(response.status == row.status, "\(response.body)")
        if row.hasRow {
            #expect(response.object["id"] as? String == id)
            #expect(response.tag == "\"\(response.version)\"")
            #expect(response.head.headerFields[.lastModified] != nil)
        } else {
            #expect(response.body.isEmpty)
            #expect(response.tag == nil)
        }
        // Only a success changes rows.
        if row.status >= 300 || row.method == .get { #expect(try server.core.rows(in: "card") == before) }
    }

    private func prepare() async -> [String: String] {
        var versions: [String: String] = [:]
        for id in ["live", "gone"] {
            versions[id] = await server.send(.post, "/tables/card", [:], "{\"id\":\"\(id)\",\"n\":1}").version
        }
        await server.send(.delete, "/tables/card/gone")
        versions["gone"] = await server.send(.get, "/tables/card/gone?__includedeleted=true").version
        return versions
    }

    @Test func `a PUT replaces the row and changes its version`() async {
        let versions = await prepare()
        server.time.advance(by: .milliseconds(1))
        let response = await server.send(.put, "/tables/card/live", [:], #"{"id":"live","m":null}"#)
        #expect(response.object["n"] == nil)
        #expect(response.object["m"] is NSNull)
        #expect(response.version != versions["live"])
        #expect(response.object["updatedAt"] as? String == "2026-11-21T03:14:33.888Z")
    }

    @Test func `an insert with an existing ID returns the row`() async {
        let versions = await prepare()
        for id in ["live", "gone"] {
            let response = await server.send(.post, "/tables/card", [:], "{\"id\":\"\(id)\",\"n\":9}")
            #expect(response.status == 409)
            #expect(response.object["n"] as? Int == 1)
            #expect(response.tag == "\"\(versions[id] ?? "")\"")
            #expect(response.object["deleted"] as? Bool == (id == "gone"))
        }
    }

    @Test func `an undelete is a PUT in which deleted may be omitted`() async {
        for body in [#"{"id":"gone"}"#, #"{"id":"gone","deleted":false}"#] {
            _ = await prepare()
            let response = await server.send(.put, "/tables/card/gone?__includedeleted=true", [:], body)
            #expect(response.object["deleted"] as? Bool == false)
            await server.send(.delete, "/tables/card/gone")
        }
    }

    @Test(arguments: ["", "text/plain", "application/xml"])
    func `only JSON bodies are accepted`(type: String) async {
        for (method, path) in [(HTTPRequest.Method.post, "/tables/card"), (.put, "/tables/card/a")] {
            let response = await server.send(method, path, [.contentType: type], #"{"id":"a"}"#)
            #expect(response.status == 415)
            #expect(response.body.isEmpty)
        }
    }

    @Test func `an entity with a wrong structure gets an explanation`() async throws {
        let server = try ServerFixture(.datasync) { configuration in
            configuration.hooks.validate = { _, members in
                if case .text? = members["title"] { [] } else { ["The Title field is required."] }
            }
        }
        let missing = await server.send(.post, "/tables/card", [:], "{}")
        #expect(missing.status == 400)
        #expect(missing.body == #"[{"errorMessage":"The Title field is required."}]"#)
        let wrong = await server.send(.post, "/tables/card", [:], #"{"id":7,"deleted":"no","title":"x"}"#)
        #expect(wrong.status == 400)
        #expect((wrong.json as? [Any])?.count == 2)
    }

    @Test func `a declared table has only its columns`() async throws {
        let columns = [
            ServerColumn("title", isRequired: true), ServerColumn("rating", initial: 3),
            ServerColumn("done", initial: false),
        ]
        let server = try ServerFixture(.datasync) { $0.tables["Movie"] = ServerTable(columns: columns) }
        let response = await server.send(
            .post, "/tables/movie", [:], #"{"id":"a","Title":"x","unknown":1,"rating":"4.50"}"#)
        #expect(response.status == 201)
        #expect(response.body.hasSuffix(#","deleted":false,"title":"x","rating":4.50,"done":false}"#))
        let reset = await server.send(.put, "/tables/movie/a", [:], #"{"id":"a","title":"y","done":true}"#)
        #expect(reset.body.hasSuffix(#","deleted":false,"title":"y","rating":3,"done":true}"#))
        #expect(await server.send(.put, "/tables/movie/a", [:], #"{"id":"a"}"#).status == 500)
        for filter in ["unknown eq 1", "rating eq 'x'", "rating", "title eq 'y' and done eq 5"] {
            #expect(await server.list("movie", ["$filter": filter]).status == 400, "\(filter)")
        }
        #expect(await server.list("movie", ["$select": "unknown"]).status == 400)
        #expect(
            await server.list("movie", ["$filter": "Rating eq 3 and DONE", "$select": "ID,title"]).items.count == 1)
    }

    @Test func `a table without tombstones removes deleted rows`() async throws {
        let server = try ServerFixture(.datasync) { $0.tables["hard"] = ServerTable(deletesSoftly: false) }
        await server.send(.post, "/tables/hard", [:], #"{"id":"a"}"#)
        #expect(await server.send(.put, "/tables/hard/a", [:], #"{"id":"a","deleted":true}"#).status == 200)
        #expect(await server.send(.get, "/tables/hard/a").object["deleted"] as? Bool == true)
        #expect(await server.list("hard", [:]).ids == ["a"])
        #expect(await server.send(.delete, "/tables/hard/a").status == 204)
        #expect(await server.send(.delete, "/tables/hard/a").status == 404)
        #expect(await server.send(.post, "/tables/hard", [:], #"{"id":"a"}"#).status == 201)
    }

    /// A header, its value, the statuses of a GET and of a PUT. The row's time is 03:14:33.887.
    @Test(arguments: [
        (HTTPField.Name.ifNoneMatch, "current", 304, 412), (.ifNoneMatch, "*", 304, 412),
        (.ifNoneMatch, "\"stale\"", 200, 200), (.ifNoneMatch, "W/current", 200, 200), (.ifNoneMatch, "bare", 200, 200),
        (.ifModifiedSince, "Sat, 21 Nov 2026 03:14:34 GMT", 304, 412),
        (.ifModifiedSince, "Sat, 21 Nov 2026 03:14:33 GMT", 200, 200),
        (.ifUnmodifiedSince, "Sat, 21 Nov 2026 03:14:33 GMT", 412, 412),
        (.ifUnmodifiedSince, "Sat, 21 Nov 2026 03:14:34 GMT", 200, 200),
        (.ifModifiedSince, "yesterday", 200, 200), (.ifUnmodifiedSince, "2026-11-21T00:00:00Z", 200, 200),
    ])
    func `preconditions by version and time are evaluated`(
        name: HTTPField.Name, value: String, get: Int, put: Int
    ) async {
        let versions = await prepare()
        let value = value.replacing("current", with: "\"\(versions["live"] ?? "")\"")
        let read = await server.send(.get, "/tables/card/live", [name: value])
        #expect(read.status == get)
        if get == 304 { #expect(read.body.isEmpty && read.tag == nil) }
        let body = #"{"id":"live","n":2}"#
        #expect(await server.send(.put, "/tables/card/live", [name: value], body).status == put)
        // Lists and inserts ignore preconditions.
        #expect(await server.send(.get, "/tables/card", [name: value]).status == 200)
    }

    @Test func `a time counts only without an entity tag`() async {
        let versions = await prepare()
        let current = "\"\(versions["live"] ?? "")\""
        let old = "Sat, 21 Nov 2026 03:14:33 GMT"
        let new = "Sat, 21 Nov 2026 03:14:34 GMT"
        let path = "/tables/card/live"
        #expect(await server.send(.get, path, [.ifMatch: current, .ifUnmodifiedSince: old]).status == 200)
        #expect(await server.send(.get, path, [.ifNoneMatch: "\"x\"", .ifModifiedSince: new]).status == 200)
        #expect(await server.send(.get, path, [.ifMatch: "\"x\"", .ifNoneMatch: current]).status == 412)
    }
}
