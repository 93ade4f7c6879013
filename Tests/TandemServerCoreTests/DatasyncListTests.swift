import Foundation
import HTTPTypes
import TandemServerCore
import TestSupport
import Testing

@Suite(.ownThreads) struct DatasyncListTests {
    private let server: ServerFixture

    init() throws { server = try ServerFixture(.datasync) }

    private func fill(_ count: Int, _ table: String = "card") async {
        for number in 0..<count {
            await server.send(.post, "/tables/\(table)", [:], "{\"id\":\"\(1000 + number)\",\"n\":\(number)}")
        }
    }

    @Test func `a page has items, count and nextLink`() async {
        await fill(2)
        #expect(
            await server.list("card", ["$select": "id,n"]).body
                == #"{"items":[{"id":"1000","n":0},{"id":"1001","n":1}],"count":null,"nextLink":null}"#)
        #expect(
            await server.list("card", ["$top": "0", "$count": "true"]).body
                == #"{"items":[],"count":2,"nextLink":null}"#)
        #expect(
            await server.list("card", ["$filter": "n eq 1", "$count": "false", "$select": "id", "$skip": "1"]).body
                == #"{"items":[],"count":1,"nextLink":null}"#)
        #expect(await server.send(.get, "/tables/none").body == #"{"items":[],"count":null,"nextLink":null}"#)
    }

    @Test func `the nextLink is the query of the rest`() async {
        await fill(205)
        let filter = "(n ge 0 and id ne 'a+b é')"
        var response = await server.send(
            .get, "/tables/card?$filter=\(encoded(filter))&x=%26&$top=150&$orderby=updatedAt,id")
        #expect(response.items.count == 100)
        #expect(
            response.object["nextLink"] as? String
                == """
                $filter=(n%20ge%200%20and%20id%20ne%20%27a%2Bb%20%C3%A9%27)&x=%26&$top=50&$orderby=updatedAt,id\
                &$skip=100
                """
        )
        response = await server.send(.get, "/tables/card?\(response.object["nextLink"] as? String ?? "")")
        #expect(response.ids.first == "1100")
        #expect(response.items.count == 50)
        #expect(response.object["nextLink"] is NSNull)
    }

    @Test func `pages contain each row once despite equal times`() async {
        await fill(230)
        await server.send(.delete, "/tables/card/1100")
        for (start, count) in [
            ("$orderby=updatedAt&$count=true", 229), ("__includedeleted=true", 230), ("$filter=n%20lt%20120", 119),
            ("$orderby=n%20desc&__includedeleted=true&$top=228", 228),
        ] {
            var seen: [String] = []
            var next: String? = start
            while let query = next {
                let page = await server.send(.get, "/tables/card?\(query)")
                seen += page.ids
                next = page.object["nextLink"] as? String
            }
            #expect(seen.count == count)
            #expect(Set(seen).count == count)
        }
    }

    @Test(arguments: [
        "$top=-1", "$top=NaN", "$top=128001", "$top=", "$skip=-1", "$skip=x", "$count=maybe", "$top=1&$top=2",
        "$expand=x", "$orderby=a,b,c,d,e,f", "$orderby=n%20up", "$select=,&$orderby=)",
    ])
    func `invalid options get an explanation`(query: String) async {
        let response = await server.send(.get, "/tables/card?\(query)")
        #expect(response.status == 400)
        #expect((response.json as? String)?.isEmpty == false)
    }

    @Test(arguments: [
        "n eq", "n = 1", "(n eq 1", "n eq 1)", "n eq 'a", "'a'", "5", "n add 1", "not 5", "n eq 1 and 5", "n and",
        "nosuch(n)", "length()", "length(id,id)", "length(5) eq 1", "id eq 5", "updatedAt ge 'x'", "deleted eq 1",
        "updatedAt ge datetimeoffset'2026-11-21T03:14:33.887Z'", "substringof('a',id)", "n in ()", "n in 1",
        "n in (1,'a',)", "cast(n,Edm.Nothing) eq 1", "x/any(a:a/any(b:b eq 1))", "x/any(a a eq 1)", "\"a\" eq id",
        "n eq 1 2", "n eq 99999999999999999999999e999", "updatedAt eq 2026-13-01", "n eq 1e", "- n eq 1",
        "updatedAt add 5 eq 1", "duration'x' eq n", "id eq %", "#", "id in (5)",
    ])
    func `invalid filters get an explanation`(filter: String) async {
        let response = await server.list("card", ["$filter": filter])
        #expect(response.status == 400)
        #expect((response.json as? String)?.isEmpty == false, "\(response.body)")
    }

    @Test func `filters that no database evaluates get no explanation`() async {
        for filter in ["matchesPattern(id,'^a')", "geo.distance(p,geography'POINT(0 0)') lt 5"] {
            let response = await server.list("card", ["$filter": filter])
            #expect(response.status == 400)
        }
        #expect(await server.list("card", ["$filter": "matchesPattern(id,'^a')"]).body.isEmpty)
        #expect(await server.send(.get, "/tables/card?$filter=").status == 500)
    }

    @Test func `a filter has at most a hundred nodes`() async {
        func filter(_ terms: Int) -> String {
            (0..<terms).map { "n eq \($0)" }.joined(separator: " or ")
        }
        #expect(await server.list("card", ["$filter": filter(25)]).status == 200)
        #expect(await server.list("card", ["$filter": filter(26)]).status == 400)
        let list = (0..<500).map { "'\($0)'" }.joined(separator: ",")
        #expect(await server.list("card", ["$filter": "id in (\(list))"]).status == 200)
    }

    @Test(arguments: [
        ("__includedeleted=true", 2), ("__IncludeDeleted=True", 2), ("__includedeleted=false", 1),
        ("__includedeleted=1", 1), ("", 1),
    ])
    func `tombstones are listed on request`(query: String, count: Int) async {
        await fill(2)
        await server.send(.delete, "/tables/card/1001")
        #expect(await server.send(.get, "/tables/card?\(query)").items.count == count)
    }

    @Test func `the token of a pull finds rows of its time and later`() async {
        await fill(3)
        server.time.advance(by: .milliseconds(1))
        await server.send(.put, "/tables/card/1001", [:], #"{"id":"1001"}"#)
        func count(_ comparison: String, _ time: String) async -> Int {
            let filter = "(updatedAt \(comparison) cast(\(time),Edm.DateTimeOffset))"
            return await server.list("card", ["$filter": filter, "$orderby": "updatedAt"]).items.count
        }
        #expect(await count("ge", "2026-11-21T03:14:33.887Z") == 3)
        #expect(await count("gt", "2026-11-21T03:14:33.887Z") == 1)
        #expect(await count("gt", "2026-11-21T03:14:33.8870001Z") == 1)
        #expect(await count("ge", "2026-11-21T03:14:33.8870001Z") == 1)
        #expect(await count("ge", "2026-11-21T04:14:33.888+01:00") == 1)
        #expect(await count("gt", "2026-11-21T03:14:33.888Z") == 0)
        #expect(await count("lt", "2026-11-21T03:14:33.888Z") == 2)
        #expect(await count("lt", "2026-11-21T03:14:33.8870001Z") == 2)
        #expect(await count("lt", "2026-11-21T03:14:33.887Z") == 0)
        #expect(await count("le", "2026-11-21T03:14:33.887Z") == 2)
        #expect(await count("le", "2026-11-21T03:14:33.8869999Z") == 0)
        #expect(await count("eq", "2026-11-21T03:14:33.887Z") == 2)
        #expect(await count("eq", "2026-11-21T03:14:33.8870001Z") == 0)
        #expect(await count("ne", "2026-11-21T03:14:33.887Z") == 1)
    }

    @Test func `an ID in a filter matches exactly`() async {
        for id in ["a", "A", "é", "e\u{301}", "o'neil", "人", "😀", "a/b?c=d&e+f %"] {
            let body = "{\"id\":\"\(id)\"}"
            #expect(await server.send(.post, "/tables/ids", [:], body).status == 201)
        }
        for row in (try? server.core.rows(in: "ids")) ?? [] {
            let literal = row.id.replacing("'", with: "''")
            let listed = await server.list("ids", ["$filter": "id eq '\(literal)'"])
            #expect(listed.ids.map { Array($0.utf8) } == [Array(row.id.utf8)])
            #expect(await server.send(.get, "/tables/ids/\(encoded(row.id))").status == 200)
        }
        let ascending = await server.list("ids", ["$filter": "id gt 'a'"]).ids
        #expect(ascending == ["a/b?c=d&e+f %", "e\u{301}", "o'neil", "é", "人", "😀"])
    }
}
