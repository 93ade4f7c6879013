import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TestSupport
import Testing

/// The data that the server stores, and its lifetime.
@Suite(.ownThreads) struct ServerStoreTests {
    private let server: ServerFixture

    init() throws { server = try ServerFixture(.datasync) }

    @Test func `the server's time never decreases`() async {
        for milliseconds in [0, 5, -3000, 1] {
            server.time.advance(by: .milliseconds(milliseconds))
            await server.send(.post, "/tables/card", [:], "{}")
        }
        let times = await server.list("card", ["$orderby": "updatedAt"]).items.map { $0["updatedAt"] as? String ?? "" }
        #expect(times.map { $0.suffix(5) } == [".887Z", ".892Z", ".892Z", ".892Z"].map { $0.suffix(5) })
    }

    @Test func `a restarted server continues with its rows`() async throws {
        let store = try Store(inMemoryModels: ServerCore.models)
        let first = try ServerFixture(.datasync, store: store)
        first.time.advance(by: .seconds(60))
        await first.send(.post, "/tables/card", [:], #"{"id":"a","name":"かめや"}"#)
        let second = try ServerFixture(.datasync, store: store, random: 2)
        #expect(await second.send(.get, "/tables/card/a").object["name"] as? String == "かめや")
        let response = await second.send(.post, "/tables/card", [:], #"{"id":"b"}"#)
        #expect(response.object["updatedAt"] as? String == "2026-11-21T03:15:33.887Z")
    }

    @Test func `a server on a file keeps its rows`() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("served-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("rows.tandem").path
        let request = HTTPRequest(
            method: .post, scheme: "http", authority: "h", path: "/tables/card",
            headerFields: [.contentType: "application/json"])
        for status in [201, 409] {
            let core = try ServerCore.onFile(at: path, configuration: ServerConfiguration(dialect: .datasync))
            let (response, _) = await core.handle(request, body: Array(#"{"id":"ключ"}"#.utf8))
            #expect(response.status.code == status)
            core.store.close()
            // A failing store leads to a response too.
            #expect(await core.handle(request, body: Array("{}".utf8)).0.status.code == 500)
        }
    }

    @Test func `a single one of several equal inserts succeeds`() async throws {
        let statuses = await withTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask { await server.send(.post, "/tables/card", [:], "{\"id\":\"a\",\"n\":\(number)}").status }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.sorted() == [201] + Array(repeating: 409, count: 7))
        #expect(try server.core.rows(in: "card").count == 1)
    }

    @Test(arguments: [0, 1, 8, 36, 100])
    func `versions have the table's configured length`(length: Int) async throws {
        let server = try ServerFixture(.datasync) { $0.otherTables?.versionLength = length }
        let response = await server.send(.post, "/tables/card", [:], #"{"id":"a"}"#)
        #expect(Data(base64Encoded: response.version)?.count == max(1, length))
        #expect(await server.send(.delete, "/tables/card/a", [.ifMatch: response.tag ?? ""]).status == 204)
    }

    @Test func `both dialects share the rows`() async throws {
        let server = try ServerFixture(.byVersionHeader)
        let azure = await server.send(.post, "/tables/Card", [.version: "2.0.0"], #"{"id":"a","n":1}"#)
        #expect(azure.version == "MQ==")
        #expect(await server.send(.get, "/tables/card/a", [.version: "3.0.0"]).version == "MQ==")
        let put = await server.send(.put, "/tables/card/a", [.ifMatch: "\"MQ==\""], #"{"id":"a","n":2,"l":[1]}"#)
        let again = await server.send(.get, "/tables/card/a", [.version: "2.0.0"])
        #expect(again.version == put.version)
        #expect((again.object["l"] as? [Int]) == [1])
    }
}
