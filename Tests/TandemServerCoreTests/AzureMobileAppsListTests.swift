import Foundation
import HTTPTypes
import TandemServerCore
import TestSupport
import Testing

@Suite(.ownThreads) struct AzureMobileAppsListTests {
    private let server: ServerFixture

    init() throws { server = try ServerFixture(.azureMobileApps) }

    private func fill(_ count: Int) async {
        for number in 0..<count {
            await server.send(.post, "/tables/todo", [:], "{\"id\":\"\(1000 + number)\",\"n\":\(number)}")
        }
    }

    @Test func `a list is an array, and an object if a total is requested`() async {
        await fill(3)
        let bare = await server.list("todo", ["$top": "2", "$select": "id"])
        #expect(bare.body == #"[{"id":"1000"},{"id":"1001"}]"#)
        #expect(bare.tag?.hasPrefix("W/\"") == true)
        let counted = await server.list("todo", ["$top": "2", "$select": "id", "$inlinecount": "allpages"])
        #expect(counted.body == #"{"results":[{"id":"1000"},{"id":"1001"}],"count":3}"#)
        let other = await server.list("todo", ["$count": "true", "$inlinecount": "none", "$select": "n"])
        #expect(other.body == #"[{"n":0},{"n":1},{"n":2}]"#)
    }

    @Test(
        arguments: [
            ("", 50), ("0", 50), ("1", 1), ("51", 51), ("1000", 60), ("1001", nil), ("-1", nil), ("x", nil),
            ("1.5", nil),
            ("99999999999999999999", nil),
        ] as [(String, Int?)])
    func `a page has at most the requested rows`(top: String, count: Int?) async {
        await fill(60)
        let response = await server.list("todo", ["$top": top])
        #expect(response.status == (count == nil ? 400 : 200))
        if let count { #expect(response.items.count == count) } else { #expect(response.error != nil) }
    }

    @Test func `a host may limit pages without reporting it`() async throws {
        let server = try ServerFixture(.azureMobileApps) { $0.limits.greatestPage = 2 }
        for id in ["a", "b", "c"] { await server.send(.post, "/tables/todo", [:], "{\"id\":\"\(id)\"}") }
        let response = await server.list("todo", ["$top": "3", "$orderby": "id"])
        #expect(response.ids == ["a", "b"] && response.head.headerFields[.link] == nil)
        #expect(await server.list("todo", ["$top": "3", "$skip": "2"]).ids == ["c"])
    }

    @Test func `a full page has a link without the port`() async {
        await fill(4)
        let filter = "n ge 0 and id ne 'é'"
        let full = await server.list("todo", ["$filter": filter, "$top": "2", "$skip": "2"])
        #expect(
            full.head.headerFields[.link]
                == "http://127.0.0.1/tables/todo/?%24top=2&%24skip=4&%24filter=n%20ge%200%20and%20id%20ne%20%27%C3%A9%27; rel=next"
        )
        #expect(await server.send(.get, "/tables/todo/?%24top=2&%24skip=4").items.isEmpty)
        #expect(await server.list("todo", ["$top": "5"]).head.headerFields[.link] == nil)
    }

    @Test(arguments: [
        ("__includeDeleted", "true", 2), ("__includeDeleted", "false", 2), ("__includeDeleted", "x", 2),
        ("__includedeleted", "true", 1), ("__INCLUDEDELETED", "true", 1),
    ])
    func `tombstones are listed only by the exact parameter name`(name: String, value: String, count: Int) async {
        await fill(2)
        await server.send(.delete, "/tables/todo/1000")
        let response = await server.send(.get, "/tables/todo?\(name)=\(value)")
        #expect(response.items.count == count)
        let one = await server.list("todo", ["$filter": "id eq '1000'", "__includeDeleted": "true"])
        #expect(one.items.first?["deleted"] as? Bool == true)
    }

    @Test func `lists are ordered by keys, then by ID`() async {
        for (id, text, number) in [("c", "x", 1), ("a", "y", 1), ("b", "x", 2), ("d", "X", 0)] {
            await server.send(
                .post, "/tables/todo", [:], "{\"id\":\"\(id)\",\"text\":\"\(text)\",\"n\":\(number)}")
        }
        await server.send(.post, "/tables/todo", [:], #"{"id":"e"}"#)
        #expect(await server.list("todo", ["$orderby": "text,n desc"]).ids == ["e", "d", "b", "c", "a"])
        #expect(await server.list("todo", ["$orderby": "n"]).ids == ["e", "d", "a", "c", "b"])
        #expect(await server.list("todo", ["$orderby": "text desc,id desc"]).ids == ["a", "c", "b", "d", "e"])
        #expect(await server.list("todo", ["$orderby": "n", "$skip": "1", "$top": "2"]).ids == ["d", "a"])
        #expect(await server.list("todo", ["$orderby": "n foo"]).status == 500)
    }

    @Test func `an incremental pull gets each row once despite equal times`() async {
        await fill(130)
        server.time.advance(by: .milliseconds(1))
        await server.send(.delete, "/tables/todo/1005")
        var seen: [String] = []
        var skip = 0
        while true {
            let page = await server.list(
                "todo",
                [
                    "$filter": "(updatedAt ge datetimeoffset'2026-11-21T03:14:33.887Z')", "$orderby": "updatedAt,id",
                    "$skip": String(skip), "$top": "7", "__includeDeleted": "true",
                ])
            seen += page.ids
            skip += page.ids.count
            if page.ids.count < 7 { break }
        }
        #expect(seen.count == 130)
        #expect(Set(seen).count == 130)
        #expect(seen.last == "1005")
        let later = await server.list(
            "todo", ["$filter": "updatedAt gt datetime'2026-11-21T03:14:33.887'", "__includeDeleted": "true"])
        #expect(later.ids == ["1005"])
        let zoned = await server.list("todo", ["$filter": "updatedAt gt datetimeoffset'2026-11-21T04:14:33.887+01:00'"])
        #expect(zoned.items.isEmpty)
    }

    @Test(arguments: [
        "updatedAt ge 2026-11-21T03:14:33.887Z", "contains(text,'a')", "id in ('a')", "text eq", "(text eq 'a'",
        "text eq 'a",
        "text eq 'a' and", "5", "'a'", "not 5", "length(5) eq 1", "nosuch(text)", "text eq datetime'never'", "%",
        "updatedAt ge cast(2026-11-21T03:14:33.887Z,Edm.DateTimeOffset)", "tags/any(t:t eq 'a')", "text eq \"a\"",
    ])
    func `an invalid filter gets a 500`(filter: String) async {
        await server.send(.post, "/tables/todo", [:], #"{"text":"a"}"#)
        let response = await server.list("todo", ["$filter": filter])
        #expect(response.status == 500, "\(response.body)")
        #expect(response.error != nil)
    }

    @Test func `the message of an invalid filter contains the position`() async {
        let response = await server.list("todo", ["$filter": "updatedAt ge text in"])
        #expect(response.body == #"{"error":"')' or operator expected (at index 18)"}"#)
    }

    @Test func `a filter by an empty column finds nothing`() async {
        await fill(1)
        for filter in ["nosuch eq null", "nosuch ne 1 or n eq 0"] {
            let response = await server.list("todo", ["$filter": filter])
            #expect(response.status == 200)
            #expect(response.body == "[]")
        }
    }
}
