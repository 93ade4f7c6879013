import Foundation
import HTTPTypes
import TandemServerCore
import TestSupport
import Testing

@Suite(.ownThreads) struct UsersAndHooksTests {
    private static func server(_ dialect: ServerDialect) throws -> ServerFixture {
        try ServerFixture(dialect) { configuration in
            configuration.tables["own"] = ServerTable(isPerUser: true)
            configuration.user = { ["ada-token": "ada", "боб-token": "bob"][$0] }
        }
    }

    private static let ada: HTTPFields = [.authorization: "Bearer ada-token"]
    private static let bob: HTTPFields = [.zumoToken: "боб-token"]

    @Test func `requests without a valid token are refused`() async throws {
        for dialect in [ServerDialect.azureMobileApps, .datasync] {
            let server = try Self.server(dialect)
            #expect(await server.send(.get, "/tables/own").status == 401)
            #expect(await server.send(.get, "/tables/shared").status == 200)
            for table in ["own", "shared"] {
                let bad = await server.send(.post, "/tables/\(table)", [.authorization: "Bearer x"], #"{"id":"a"}"#)
                #expect(bad.status == 401)
                #expect(
                    bad.body
                        == (dialect == .datasync ? "" : #"{"name":"JsonWebTokenError","message":"jwt malformed"}"#))
            }
            #expect(try server.core.rows(in: "shared").isEmpty)
            #expect(await server.send(.get, "/tables/own", Self.ada).status == 200)
            #expect(await server.send(.get, "/tables/own", [.authorization: "bearer ada-token"]).status == 200)
        }
    }

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync])
    func `users do not see each other's rows`(dialect: ServerDialect) async throws {
        let server = try Self.server(dialect)
        let method = dialect == .datasync ? HTTPRequest.Method.put : .patch
        let body = #"{"id":"a","n":2}"#
        #expect(await server.send(.post, "/tables/own", Self.ada, #"{"id":"a","n":1}"#).status == 201)
        #expect(await server.send(.get, "/tables/own/a", Self.bob).status == 404)
        #expect(await server.send(method, "/tables/own/a", Self.bob, body).status == 404)
        #expect(await server.send(.delete, "/tables/own/a", Self.bob).status == 404)
        #expect(await server.send(.get, "/tables/own", Self.bob).items.isEmpty)
        #expect(await server.send(.get, "/tables/own?$filter=id%20eq%20'a'", Self.bob).items.isEmpty)
        #expect(await server.send(.get, "/tables/own", Self.ada).ids == ["a"])
        let taken = await server.send(.post, "/tables/own", Self.bob, #"{"id":"a","n":3}"#)
        // Datasync reveals nothing of a row outside the view. Azure Mobile Apps echoes the request.
        #expect(taken.status == (dialect == .datasync ? 400 : 409))
        #expect(taken.body == (dialect == .datasync ? "" : #"{"id":"a","n":3}"#))
        let rows = try server.core.rows(in: "own")
        #expect(rows.map(\.user) == ["ada"])
        #expect(rows.first?.members == ["n": 1])
    }

    @Test func `a view hides rows`() async throws {
        let server = try ServerFixture(.datasync) { configuration in
            var table = ServerTable()
            table.view = { row, _ in row.members["hidden"] != true }
            configuration.tables["t"] = table
        }
        await server.send(.post, "/tables/t", [:], #"{"id":"a","hidden":true}"#)
        await server.send(.post, "/tables/t", [:], #"{"id":"b"}"#)
        #expect(await server.send(.get, "/tables/t/a").status == 404)
        #expect(await server.list("t", ["$count": "true"]).object["count"] as? Int == 1)
        #expect(await server.list("t", [:]).ids == ["b"])
    }

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync])
    func `a conflict can be resolved on the server`(dialect: ServerDialect) async throws {
        let server = try ServerFixture(dialect) { configuration in
            configuration.hooks.resolveConflict = { conflict in
                guard conflict.sent["mine"] != nil else { return .refuse }
                var merged = conflict.server.members
                for (name, value) in conflict.sent.members { merged[name] = value }
                return .accept(merged)
            }
        }
        await server.send(.post, "/tables/t", [:], #"{"id":"a","theirs":1}"#)
        let method = dialect == .datasync ? HTTPRequest.Method.put : .patch
        let merged = await server.send(method, "/tables/t/a", [.ifMatch: "\"x\""], #"{"id":"a","mine":2}"#)
        #expect(merged.status == 200)
        #expect(merged.object["theirs"] as? Int == 1)
        #expect(merged.object["mine"] as? Int == 2)
        #expect(await server.send(method, "/tables/t/a", [.ifMatch: "\"x\""], #"{"id":"a","z":2}"#).status == 412)
        #expect(await server.send(.delete, "/tables/t/a", [.ifMatch: "\"x\""]).status == 412)
    }

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync])
    func `a hook changes or refuses a commit`(dialect: ServerDialect) async throws {
        let server = try ServerFixture(dialect) { configuration in
            configuration.hooks.beforeCommit = { change in
                if change.members["bad"] == true { throw ServerRefusal(status: 422, body: ["why": "bad"]) }
                if change.kind == .insert { change.members["by"] = "server" }
            }
        }
        let response = await server.send(.post, "/tables/t", [:], #"{"id":"a","bad":false}"#)
        #expect(try server.core.rows(in: "t").first?.members["by"] == "server")
        #expect(response.object["by"] as? String == "server")
        let refused = await server.send(.post, "/tables/t", [:], #"{"id":"b","bad":true}"#)
        #expect(refused.status == 422)
        #expect(refused.body == #"{"why":"bad"}"#)
        #expect(try server.core.rows(in: "t").map(\.id) == ["a"])
    }

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync])
    func `an unauthorized write gets a 401`(dialect: ServerDialect) async throws {
        let server = try ServerFixture(dialect) { configuration in
            configuration.hooks.authorize = { kind, row, _ in kind == .insert ? row.id != "no" : kind == .update }
        }
        #expect(await server.send(.post, "/tables/t", [:], #"{"id":"no"}"#).status == 401)
        #expect(await server.send(.post, "/tables/t", [:], #"{"id":"a"}"#).status == 201)
        #expect(await server.send(.delete, "/tables/t/a").status == 401)
        #expect(await server.send(.delete, "/tables/t/none").status == 404)
        #expect(try server.core.rows(in: "t").map(\.deleted) == [false])
    }
}
