import Foundation
import HTTPTypes
import TandemServerCore
import TestSupport
import Testing

/// Tables with declared columns, and tables without.
@Suite(.ownThreads) struct DeclaredColumnTests {
    static let columns = [
        ServerColumn("title", type: .text), ServerColumn("year", type: .integer),
        ServerColumn("rating", type: .enumeration(["G", "PG", "R"])), ServerColumn("score", type: .number),
        ServerColumn("released", type: .date), ServerColumn("begins", type: .timeOfDay),
    ]

    private static func server(
        _ dialect: ServerDialect, columns: [ServerColumn]? = DeclaredColumnTests.columns
    ) async throws -> ServerFixture {
        let server = try ServerFixture(dialect) { $0.tables["Film"] = ServerTable(columns: columns) }
        for row in [
            #"{"id":"a","title":"x","year":1999,"rating":"R","score":7,"released":"1999-03-31","begins":"07:14:00"}"#,
            #"""
            {"id":"b","title":"y","year":2024,"rating":"G","score":2.5,"released":"2024-02-29",\#
            "begins":"23:59:59.5"}
            """#,
            #"{"id":"c","title":"z","year":2001,"rating":"PG","score":3,"released":"2001-01-01","begins":"07:00:00"}"#,
            #"{"id":"d"}"#,
        ] {
            let response = await server.send(.post, "/tables/film", [:], row)
            #expect(response.status == 201, "\(response.body)")
        }
        return server
    }

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync])
    func `unknown property of a declared table gets 400`(dialect: ServerDialect) async throws {
        let server = try await Self.server(dialect)
        for (option, value) in [
            ("$filter", "yaer eq 1999"), ("$filter", "year eq 1999 and length(titel) gt 1"), ("$orderby", "yaer"),
            ("$orderby", "year,yaer desc"), ("$select", "yaer"), ("$select", "id,yaer"),
        ] {
            let response = await server.list("film", [option: value])
            #expect(response.status == 400, "\(option)=\(value)")
            #expect(response.body.contains("Could not find a property named"), "\(response.body)")
        }
        let known = await server.list("film", ["$filter": "YEAR ge 2001", "$orderby": "Year", "$select": "id,year"])
        #expect(known.ids == ["c", "b"], "\(known.body)")
    }

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync])
    func `a declared column with a reserved name occurs once in a response`(dialect: ServerDialect) async throws {
        let own = ["id", "updatedAt", "version", "deleted"].map { ServerColumn($0, type: .text) }
        let server = try await Self.server(dialect, columns: Self.columns + own)
        let response = await server.list("film", ["$filter": "id eq 'a'"])
        #expect(response.ids == ["a"])
        for name in ["id", "updatedAt", "version"] {
            #expect(response.body.components(separatedBy: "\"\(name)\":").count == 2, "\(name): \(response.body)")
        }
    }

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync])
    func `unknown property of an undeclared table finds nothing`(dialect: ServerDialect) async throws {
        let server = try await Self.server(dialect, columns: nil)
        for (option, value) in [("$filter", "yaer eq 1999"), ("$orderby", "yaer"), ("$select", "id,yaer")] {
            #expect(await server.list("film", [option: value]).status == 200, "\(option)=\(value)")
        }
        #expect(await server.list("film", ["$filter": "yaer eq 1999"]).ids.isEmpty)
        #expect(await server.list("film", ["$orderby": "rating"]).ids == ["d", "b", "c", "a"])
    }

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync], [DeclaredColumnTests.columns, nil])
    func `select without commas is a syntax error`(dialect: ServerDialect, columns: [ServerColumn]?) async throws {
        let server = try await Self.server(dialect, columns: columns)
        for text in ["year rating", "id,year rating", "year,,(rating)", "'year'"] {
            let response = await server.list("film", ["$select": text])
            #expect(response.status == 400, "\(text)")
            #expect(response.body.contains("Syntax error in $select"), "\(response.body)")
        }
        #expect(await server.list("film", ["$select": " id , year "]).ids.count == 4)
    }

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync])
    func `enums are compared and ordered as declared`(dialect: ServerDialect) async throws {
        // The declared order differs from the alphabetical one.
        var columns = Self.columns
        columns[2].type = .enumeration(["R", "G", "PG"])
        let server = try await Self.server(dialect, columns: columns)
        #expect(await server.list("film", ["$orderby": "rating"]).ids == ["d", "a", "b", "c"])
        #expect(await server.list("film", ["$orderby": "rating desc"]).ids == ["c", "b", "a", "d"])
        #expect(await server.list("film", ["$filter": "rating gt 'R'"]).ids == ["b", "c"])
        #expect(await server.list("film", ["$filter": "'G' ge rating"]).ids == ["a", "b"])
        #expect(await server.list("film", ["$filter": "rating eq 'PG'"]).ids == ["c"])
    }

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync])
    func `parts of dates and times of day are read`(dialect: ServerDialect) async throws {
        let server = try await Self.server(dialect)
        for (filter, ids) in [
            ("hour(begins) eq 7", "ac"), ("minute(begins) eq 14", "a"), ("second(begins) eq 59", "b"),
            ("year(released) eq 2024", "b"), ("month(released) eq 3", "a"), ("day(released) eq 29", "b"),
        ] {
            let response = await server.list("film", ["$filter": filter])
            #expect(response.ids.joined() == ids, "\(filter): \(response.body)")
        }
        #expect(await server.list("film", ["$orderby": "begins desc"]).ids == ["b", "a", "c", "d"])
    }

    @Test(arguments: [
        ("begins ge 07:14:00", "ab"), ("begins eq cast(07:14:00,Edm.TimeOfDay)", "a"), ("released lt 2001-01-01", "a"),
        ("released ge cast(2001-01-01,Edm.Date)", "bc"), ("rating in ('R','G')", "ab"), ("score div 2 eq 3.5", "a"),
        ("year div 2 eq 999", "a"), ("cast(rating,Edm.String) eq 'R'", "a"), ("rating eq null", "d"),
        ("startswith(cast(begins,Edm.String),'07')", "ac"), ("contains(cast(released,Edm.String),'-02-')", "b"),
    ])
    func `Datasync compares values in their declared types`(filter: String, ids: String) async throws {
        let response = try await Self.server(.datasync).list("film", ["$filter": filter])
        #expect(response.ids.joined() == ids, "\(response.body)")
    }

    @Test(arguments: [
        "rating eq 'X'", "'X' eq rating", "rating in ('R','X')", "begins eq 5", "title eq 5", "hour(title) eq 1",
        "startswith(released,'1999')", "endswith(begins,'00')", "contains(begins,'07')", "tolower(released) eq 'a'",
    ])
    func `Datasync refuses values of another type`(filter: String) async throws {
        #expect(try await Self.server(.datasync).list("film", ["$filter": filter]).status == 400)
    }

    @Test(arguments: [
        ("startswith(released,'1999')", "a"), ("not startswith(released,'1999')", "bc"),
        ("endswith(begins,':00')", "ac"),
        ("substringof('24-',released)", "b"), ("length(begins) eq 8", "ac"), ("indexof(begins,'.') eq 8", "b"),
        ("replace(begins,':','') eq '071400'", "a"), ("concat(released,'!') eq '1999-03-31!'", "a"),
        ("tolower(runtime) eq 'pt1h30m'", "e"), ("startswith(trim(toupper(shown)),'1999-04-01T20')", "e"),
        ("substring(shown,11,2) eq '20' and hour(shown) eq 18", "e"),
    ])
    func `Azure Mobile Apps finds texts in dates, times and durations as they are sent`(
        filter: String, ids: String
    ) async throws {
        let columns = Self.columns + [ServerColumn("runtime", type: .duration), ServerColumn("shown", type: .instant)]
        let server = try await Self.server(.azureMobileApps, columns: columns)
        let row = #"{"id":"e","runtime":"PT1H30M","shown":"1999-04-01T20:00:00.000+02:00"}"#
        #expect(await server.send(.post, "/tables/film", [:], row).status == 201)
        let response = await server.list("film", ["$filter": filter])
        #expect(response.ids.joined() == ids, "\(response.body)")
    }

    @Test func `a column added by an Azure Mobile Apps request is known afterwards`() async throws {
        let server = try await Self.server(.azureMobileApps)
        #expect(await server.list("film", ["$filter": "extra eq 1"]).status == 400)
        await server.send(.post, "/tables/film", [:], #"{"id":"e","extra":1}"#)
        #expect(await server.list("film", ["$filter": "extra eq 1"]).ids == ["e"])
    }

    @Test func `Datasync stores an enum sent as a number by its name`() async throws {
        let server = try await Self.server(.datasync)
        await server.send(.post, "/tables/film", [:], #"{"id":"e","rating":1}"#)
        #expect(await server.list("film", ["$filter": "rating eq 'PG'"]).ids == ["c", "e"])
    }

    @Test func `a type is parsed from the command line`() {
        #expect(ServerColumnType("timeOfDay") == .timeOfDay)
        #expect(ServerColumnType("enum(G, PG,R)") == .enumeration(["G", "PG", "R"]))
        for text in ["", "string", "enum()", "enum(G,)", "enum(G,G)", "enum(G"] {
            #expect(ServerColumnType(text) == nil, "\(text)")
        }
    }
}
