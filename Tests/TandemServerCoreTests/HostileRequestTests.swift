import Foundation
import HTTPTypes
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

/// Requests that no valid client sends. Each gets a response, and stored data is unchanged.
@Suite(.ownThreads) struct HostileRequestTests {
    @Test(arguments: [
        "/tables/t?$filter=%", "/tables/%ff", "/tables/t/%zz", "/tables/t?a=%C3", "/tables/t?%e2%82=1",
    ])
    func `invalid percent encoding is refused`(path: String) async throws {
        for dialect in [ServerDialect.azureMobileApps, .datasync] {
            #expect(await (try ServerFixture(dialect)).send(.get, path).status == 400)
        }
    }

    @Test func `exceeding a limit gets its own status`() async throws {
        for dialect in [ServerDialect.azureMobileApps, .datasync] {
            let isAzure = dialect == .azureMobileApps
            let server = try ServerFixture(dialect)
            func filter(_ text: String) async -> Int { await server.list("t", ["$filter": text]).status }
            #expect(await server.send(.get, "/tables/t?" + String(repeating: "x", count: 70_000)).status == 414)
            #expect(await filter("'" + String(repeating: "x", count: 40_000) + "' eq id") == 400)
            for depth in [100, 5000] {
                let (open, close) = (String(repeating: "(", count: depth), String(repeating: ")", count: depth))
                #expect(await filter("\(open)true\(close)") == 400)
                #expect(await filter(open) == 400)
                #expect(await filter(String(repeating: "not ", count: depth) + "deleted") == 400)
                #expect(await filter("1" + String(repeating: " add 1", count: depth) + " eq 1") == 400)
                #expect(await filter("true" + String(repeating: " eq true", count: depth)) == 400)
            }
            #expect(await filter(String(repeating: "tolower(", count: 99)) == 400)
            // Chains of `and` add no depth.
            let chain = "deleted eq false" + String(repeating: " and deleted eq false", count: 700)
            #expect(await filter(chain) == (isAzure ? 200 : 400))

            let deep = "{\"a\":" + String(repeating: "[", count: 9000) + String(repeating: "]", count: 9000) + "}"
            #expect(await server.send(.post, "/tables/t", [:], deep).status == 400)
            let wide = "{" + (0..<1001).map { "\"a\($0)\":1" }.joined(separator: ",") + "}"
            #expect(await server.send(.post, "/tables/t", [:], wide).status == 400)
            let large = "{\"a\":\"" + String(repeating: "x", count: 2 << 20) + "\"}"
            #expect(await server.send(.post, "/tables/t", [:], large).status == (isAzure ? 400 : 413))
            #expect(try server.core.rows(in: "t").isEmpty)
        }
    }

    /// A hook may nest deeper than the limits, and limits may have any value.
    @Test(arguments: [ServerDialect.azureMobileApps, .datasync], [Int.max, Int.min, 0])
    func `invalid limits do no harm`(dialect: ServerDialect, limit: Int) async throws {
        let server = try ServerFixture(dialect) { configuration in
            configuration.limits.body = limit
            configuration.limits.jsonDepth = limit
            configuration.limits.members = limit
            configuration.limits.filterLength = limit
            configuration.limits.filterDepth = limit
            configuration.limits.filterNodes = limit
            configuration.limits.pageSize = limit
        }
        let depth = 20_000
        let deep = "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        #expect([400, 413].contains(await server.send(.post, "/tables/t", [:], deep).status))
        let (open, close) = (String(repeating: "(", count: 9000), String(repeating: ")", count: 9000))
        // With a negative limit, even an empty body is too large.
        let isServed = limit >= 0
        let refused = await server.list("t", ["$filter": "\(open)true\(close)"])
        #expect(isServed ? refused.status == 400 : [400, 413].contains(refused.status))
        #expect(await server.list("t", [:]).status == 200 || !isServed)
    }

    @Test func `the growth of a table is limited`() async throws {
        let server = try ServerFixture(.azureMobileApps) { $0.limits.members = 5 }
        #expect(await server.send(.post, "/tables/t", [:], #"{"a":1,"b":1,"c":1}"#).status == 201)
        #expect(await server.send(.post, "/tables/t", [:], #"{"d":1,"e":1,"f":1}"#).status == 400)
        #expect(try server.core.rows(in: "t").count == 1)
        #expect(await server.send(.post, "/tables/t", [:], #"{"d":1,"e":1}"#).status == 201)
    }

    /// The first day in the range of ticks. Its beginning is before the range.
    private static let firstDay =
        "date(0001-01-01T00:00:00Z" + String(repeating: " sub duration'P999999D'", count: 9)
        + " sub duration'P956046DT1H')"

    @Test(arguments: [
        "length(text) eq 9223372036854775807 add 9223372036854775807", "-9223372036854775808 mod -1 eq 0",
        "substring(text,9223372036854775807,9223372036854775807) eq ''", "substring(text,-1e308,1e308) eq 'x'",
        "round(1e308 mul 10) gt 0", "cast(1e300,Edm.Int64) eq null", "year(0001-01-01T00:00:00+14:59) le 1",
        "9999-12-31T23:59:59.9999999-14:59 sub 0001-01-01T00:00:00Z gt duration'P1D'",
        "year(9999-12-31T23:59:59Z add duration'P99999D') gt 1",
        "hour(0001-01-01T00:00:00Z sub duration'P999999D') ge 0",
        "\(firstDay) le now()", "\(firstDay) lt 2024-02-29", "date(\(firstDay)) eq null", "year(\(firstDay)) lt 1",
        "duration'P999999999999999D' eq null", "text eq '\u{0}'", "text eq '\u{202E}😀\u{FEFF}'", "'' eq ''''",
        "cast(cast(now(),Edm.String),Edm.DateTimeOffset) le now()", "text/a/b/c/d eq null", "any/any() eq true",
    ])
    func `extreme values are computed`(filter: String) async throws {
        let server = try ServerFixture(.datasync)
        await server.send(.post, "/tables/t", [:], #"{"id":"a","text":"x"}"#)
        let response = await server.list("t", ["$filter": filter])
        #expect([200, 400].contains(response.status))
    }

    /// Random texts from pieces of real filters.
    @Test(arguments: [ServerDialect.azureMobileApps, .datasync], ServerFixture.seeds)
    func `random filters get a valid status`(dialect: ServerDialect, seed: UInt64) async throws {
        let server = try ServerFixture(dialect)
        await server.send(.post, "/tables/t", [:], #"{"id":"a","text":"x","n":5,"done":true}"#)
        let pieces = [
            "(", ")", ",", "'", "''", "/", ":", "-", " ", "eq", "ne", "and", "or", "not", "add", "div", "mod", "in",
            "null",
            "true", "5", "-5", "1e9", "2024-02-29", "2024-02-29T01:02:03Z", "07:14", "n", "text", "id", "updatedAt",
            "length(", "substring(", "substringof(", "contains(", "cast(", "Edm.String", "duration'PT1H'",
            "datetimeoffset'2024-02-29T01:02:03Z'", "any(x:", "all(", "é", "😀", "\u{0}", "%", "'x'", "now()", "year(",
            "$it",
        ]
        var random = SeededGenerator(seed: seed)
        var accepted = 0
        for _ in 0..<700 {
            let text = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                (pieces.randomElement(using: &random) ?? "") + (Bool.random(using: &random) ? " " : "")
            }.joined()
            let option = Bool.random(using: &random) ? "$filter" : "$orderby"
            let response = await server.list("t", [option: text])
            #expect([200, 400, 500].contains(response.status), "\(text)")
            if response.status == 200 { accepted += 1 }
        }
        #expect(accepted > 0 && accepted < 650)
    }

    /// Random requests with methods, paths, headers and bodies from lists, some with a wrong byte.
    @Test(arguments: [ServerDialect.azureMobileApps, .datasync, .byVersionHeader], ServerFixture.seeds)
    func `random requests get a valid status`(dialect: ServerDialect, seed: UInt64) async throws {
        let server = try ServerFixture(dialect) { $0.user = { $0 == "ok" ? "ada" : nil } }
        var random = SeededGenerator(seed: seed)
        let methods: [HTTPRequest.Method] = [.get, .post, .post, .put, .patch, .delete, .head, .options, .trace]
        let paths = [
            "/tables/t", "/tables/t/a", "/tables/t/%F0%9F%98%80", "/tables/t/a?__includedeleted=true", "/tables//a", "",
            "/tables/t?$top=5&$skip=1", "/", "//", "?", "/tables/t/a/b", "/tables/%2F", "/tables/t?=&&=x&$filter",
            "/tables/t?$filter=n%20eq%201&$orderby=n", "/tables/%D0%9B/%00",
        ]
        let tags = ["\"MQ==\"", "*", "W/\"x\"", "\"", "\"a\",\"b\"", "x", "\u{1F600}", "", ",,,", "W/"]
        let bodies = [
            #"{"id":"a","n":1}"#, #"{"id":"b","text":"😀","done":true,"o":{"x":[1,2,{"y":null}]}}"#, "{}", "[]", "null",
            "",
            #"{"id":5}"#, #"{"id":"a","id":"b"}"#, #"{"deleted":1}"#, #"{"a":1e99999}"#, "{\"\":0}", #"{"a":"\ud800"}"#,
        ]
        var statuses: Set<Int> = []
        for _ in 0..<400 {
            var fields: HTTPFields = [:]
            if Int.random(in: 0..<4, using: &random) > 0 { fields[.contentType] = "application/json" }
            if dialect == .azureMobileApps { fields[.version] = "2.0.0" }
            if Int.random(in: 0..<4, using: &random) == 0 {
                fields[.version] = ["2.0.0", "3.0.0", "2.0.😀"].randomElement(using: &random)
            }
            for name in [HTTPField.Name.ifMatch, .ifNoneMatch, .ifModifiedSince]
            where Int.random(in: 0..<4, using: &random) == 0 {
                fields[name] = tags.randomElement(using: &random)
            }
            if Int.random(in: 0..<5, using: &random) == 0 {
                fields[.zumoToken] = Bool.random(using: &random) ? "ok" : "no"
            }
            var body = Array((bodies.randomElement(using: &random) ?? "").utf8)
            if !body.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
                body[Int.random(in: body.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let sane = Bool.random(using: &random) ? "/tables/t" : "/tables/t/a"
            let request = HTTPRequest(
                method: methods.randomElement(using: &random) ?? .get, scheme: "http", authority: "h",
                path: Bool.random(using: &random) ? paths.randomElement(using: &random) : sane, headerFields: fields)
            let (response, bytes) = await server.core.handle(request, body: body)
            statuses.insert(response.status.code)
            if response.headerFields[.contentType]?.hasPrefix("application/json") == true {
                #expect(
                    (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil,
                    "seed \(seed): \(request)")
            }
            #expect((200..<600).contains(response.status.code))
        }
        // Guards against requests that are all refused early.
        #expect(statuses.isSuperset(of: [200, 201, 404]), "seed \(seed)")
        for row in try server.core.rows(in: "t") { #expect(row.updatedAt == 1_795_230_873_887) }
    }
}
