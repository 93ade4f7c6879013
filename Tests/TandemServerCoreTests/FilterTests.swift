import Foundation
import HTTPTypes
import TandemServerCore
import TestSupport
import Testing

/// The grammars of both dialects: filters, and the rows that they find.
@Suite(.ownThreads) struct FilterTests {
    /// Returns a server for each dialect, with the same rows.
    private static func server(_ dialect: ServerDialect) async throws -> ServerFixture {
        let server = try ServerFixture(dialect)
        for row in [
            #"""
            {"id":"a","text":"Пятёрочка 24","n":7,"r":2.5,"done":true,"at":"2024-02-29T23:59:58.125Z",\#
            "g":"01234567-89ab-cdef-0123-456789abcdef"}
            """#,
            #"""
            {"id":"b","text":"it's","n":-3,"r":-2.5,"done":false,"at":"2026-01-01T01:00:00.000+02:00",\#
            "t":"07:14:00"}
            """#,
            #"{"id":"c","text":"  大润发😀x ","n":0,"r":0.1,"done":null,"at":null,"t":"23:59:59.5","d":"PT1H30M"}"#,
            #"{"id":"d"}"#,
        ] {
            await server.send(.post, "/tables/t", [:], row)
        }
        return server
    }

    /// Filters with the same meaning in both dialects.
    static let common: [(String, String)] = [
        ("n eq 7", "a"), ("n gt -3", "ac"), ("n ge -3 and n lt 7", "bc"), ("n le 0", "bc"), ("7 eq n", "a"),
        ("n eq 7 or n eq 0 and r eq 0.1", "ac"), ("(n eq 7 or n eq 0) and r eq 0.1", "c"), ("done", "a"),
        ("done eq false", "b"), ("text eq null", "d"), ("text ne null", "abc"), ("null eq text", "d"), ("true", "abcd"),
        ("text eq 'it''s'", "b"), ("startswith(text,'Пят')", "a"), ("endswith(text,'24')", "a"),
        ("tolower(text) eq 'пятёрочка 24'", "a"), ("toupper(text) eq 'IT''S'", "b"), ("trim(text) eq '大润发😀x'", "c"),
        // 😀 has two UTF-16 units, as in .NET and JavaScript.
        ("length(trim(text)) eq 6", "c"), ("indexof(text,'x') eq 7", "c"), ("indexof(text,'q') eq -1", "abc"),
        ("substring(text,11) eq 'а 24'", ""), ("substring(text,10) eq '24'", "a"), ("substring(text,0,2) eq 'it'", "b"),
        ("substring(text,99) eq ''", "abc"), ("substring(text,-5,1) eq 'i'", "b"),
        ("concat(concat(text,'!'),'?') eq 'it''s!?'", "b"), ("startswith(text,'') and endswith(text,'')", "abc"),
        ("n add 3 eq 10", "a"), ("n sub 3 eq -6", "b"), ("n mul 2 eq 14", "a"), ("r div 2 eq 1.25", "a"),
        ("1 add 2 mul 3 eq n", "a"), ("(n add 1) mod 4 eq 0", "a"), ("n mod 0 eq 0", ""), ("n div 0 eq 0", ""),
        ("round(r) eq 3", "a"), ("round(r) eq -3", "b"), ("floor(r) eq -3", "b"), ("ceiling(r) eq 1", "c"),
        ("n eq 7.0", "a"), ("n eq 7L", "a"), ("r eq 2.5M", "a"), ("r eq 0.1d", "c"), ("r eq 2.5f", "a"),
        ("r gt -1e3 and r lt 1.0E+1", "abc"), ("id eq 'd' and (text eq null)", "d"), ("id gt 'b'", "cd"),
        ("id ge 'b' and id le 'c'", "bc"), ("ID eq 'a'", "a"), ("year(at) eq 2024", "a"), ("month(at) eq 12", "b"),
        ("day(at) eq 29", "a"), ("hour(at) eq 23", "ab"), ("minute(at) eq 0", "b"), ("second(at) eq 58", "a"),
        ("deleted eq false", "abcd"), ("not (id eq 'a')", "bcd"), ("not not done", "a"), ("n", ""),
        ("version eq null", ""), ("length(text) gt 4 eq true", "ac"),
        ("9223372036854775807 add 1 gt 0 and id eq 'a'", "a"), ("-9223372036854775808 div -1 gt 0", "abcd"),
        ("text gt 'it'", "ab"), ("updatedAt gt createdAt", ""),
    ]

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync])
    func `a common filter finds the same rows in both dialects`(dialect: ServerDialect) async throws {
        let server = try await Self.server(dialect)
        for (filter, expected) in Self.common where dialect == .azureMobileApps || !filter.contains("createdAt") {
            await check(server, filter, expected)
        }
    }

    private func check(_ server: ServerFixture, _ filter: String, _ expected: String) async {
        let response = await server.list("t", ["$filter": filter])
        #expect(response.status == 200, "\(filter): \(response.body)")
        #expect(response.ids.joined() == expected, "\(filter)")
    }

    @Test(arguments: [
        ("at ge datetimeoffset'2024-02-29T23:59:58.125Z'", "ab"), ("at gt datetime'2024-02-29T23:59:58.125'", "b"),
        ("at eq datetimeoffset'2025-12-31T23:00:00Z'", "b"), ("substringof('рочка',text)", "a"),
        ("replace(text,'''','-') eq 'it-s'", "b"), ("g eq guid'01234567-89AB-CDEF-0123-456789ABCDEF'", "a"),
        ("d eq time'PT1H30M'", "c"), ("-n eq 3", "b"), ("-(n) eq 3", "b"),
        // SQL's logic: comparisons with null are unknown.
        ("done ne true", "b"), ("not done", "b"), ("not (done eq true)", "b"), ("done eq true or n eq 0", "ac"),
        ("not (done eq true and n eq 0)", "ab"), ("done ne null", "ab"), ("not (text eq null)", "abc"), ("t eq d", ""),
        ("text eq n", ""),
        ("t ne d", "c"), ("done ne true or done eq null", "bcd"), ("not startswith(text,'i')", "ac"),
    ])
    func `an Azure Mobile Apps filter finds the expected rows`(filter: String, expected: String) async throws {
        await check(try await Self.server(.azureMobileApps), filter, expected)
    }

    @Test(arguments: [
        ("at ge 2024-02-29T23:59:58.125Z", "ab"), ("at gt cast(2024-02-29T23:59:58.125Z,Edm.DateTimeOffset)", "b"),
        ("at gt cast('2024-02-29T23:59:58.125Z','Edm.DateTimeOffset')", "b"), ("at eq 2025-12-31T23:00:00+00:00", "b"),
        ("date(at) eq 2024-02-29", "a"), ("date(at) eq cast(2024-02-29,Edm.Date)", "a"), ("at ge 2025-01-01", "b"),
        ("time(at) eq 23:59:58.125", "a"), ("t eq 07:14:00", "b"), ("t eq cast(07:14:00,Edm.TimeOfDay)", "b"),
        ("t gt 07:14", "c"), ("fractionalseconds(at) eq 0.125", "a"), ("hour(cast(t,Edm.TimeOfDay)) eq 7", "b"),
        ("now() gt at", "ab"), ("at add duration'P1D' gt 2026-01-01T22:59:59Z", "b"), ("d eq duration'PT90M'", "c"),
        ("now() sub duration'P365D' lt at", "b"), ("g eq 01234567-89ab-cdef-0123-456789abcdef", "a"),
        ("g eq cast(01234567-89AB-cdef-0123-456789abcdef,Edm.Guid)", "a"), ("contains(text,'рочка')", "a"),
        ("Contains(Text,'рочка')", "a"), ("text in ('it''s','x')", "b"), ("n in (7,0)", "ac"),
        ("done in (null,true)", "acd"),
        ("not (n in (7,0))", "bd"), ("cast(n,Edm.String) eq '7'", "a"), ("cast(r,Edm.Int32) eq 2", "a"),
        ("isof(n,Edm.Int32)", "abc"), ("isof(text,Edm.Int32)", ""), ("n div 2 eq 3", "a"), ("n mod 2 eq -1", "b"),
        // C#'s logic: null is a value.
        ("done ne true", "bcd"), ("not done", "bcd"), ("not (done eq true)", "bcd"), ("t eq d", "ad"),
        ("text eq n", "d"), ("t ne d", "bc"),
        ("not contains(text,'рочка')", "bcd"), ("not (n gt 0)", "bcd"), ("done ne null", "ab"),
        ("(((n eq 7) and (done eq true)) or (r eq -2.5))", "ab"), ("n gt -INF and r lt INF", "abc"),
        ("r ne NaN", "abcd"),
    ])
    func `a Datasync filter finds the expected rows`(filter: String, expected: String) async throws {
        await check(try await Self.server(.datasync), filter, expected)
    }

    @Test func `lists and objects can be filtered`() async throws {
        let server = try ServerFixture(.datasync)
        for row in [
            #"{"id":"a","tags":["x","y"],"at":{"city":"Омск","zip":1}}"#, #"{"id":"b","tags":[],"at":null}"#,
            #"{"id":"c","tags":["y"],"items":[{"n":1},{"n":5}]}"#,
        ] {
            await server.send(.post, "/tables/t", [:], row)
        }
        await check(server, "tags/any(t: t eq 'x')", "a")
        await check(server, "tags/any()", "ac")
        await check(server, "tags/all(t:t eq 'y')", "bc")
        await check(server, "items/any(i:i/n gt 4 and id eq 'c')", "c")
        await check(server, "at/city eq 'Омск'", "a")
        await check(server, "at/nosuch eq null", "abc")
    }
}
