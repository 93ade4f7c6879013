import Foundation
import HTTPTypes
import Synchronization
import Tandem
import TandemDatasync
import TandemServer
import TandemServerCore
import TandemSync
import Testing

/// A remote and a server over a socket. They share only the specification.
extension SocketTests {
    @Suite struct RoundTripTests {
        @Test(arguments: Wire.allCases) func `an object is inserted, updated, deleted and restored`(
            wire: Wire
        ) async throws {
            try await wire.run { server in
                let remote = try DatasyncRemote(url: server.url, dialect: wire.dialect)
                let inserted = try await remote.insert(.card("018f", "Лента"))
                let first = try #require(inserted.version)
                #expect(inserted.item?.id == "018f")
                #expect(inserted.item?[member: "shop"] == .text("Лента"))
                #expect(inserted.serverDate != nil)

                let updated = try await remote.update(.card("018f", "O'Кей", first))
                let second = try #require(updated.version)
                #expect(second != first)
                #expect(updated.item?[member: "shop"] == .text("O'Кей"))

                let deleted = try await remote.delete(.card("018f", "", second))
                let found = try #require(await remote.find("Card", key: .id("018f")))
                #expect(found.isDeleted)
                #expect(deleted.version == nil || deleted.version == found.version)
                #expect(
                    await failure { () throws(RemoteFailure) in
                        try await remote.update(.card("018f", "x", found.version))
                    }?.line == (wire == .azure ? "not found" : "gone"))

                let undeleted = try await remote.undelete(.card("018f", "Лента", found.version))
                #expect(undeleted.item?.isDeleted == false)
                #expect(undeleted.tookValues == (wire == .datasync))
                let back = try #require(await remote.find("Card", key: .id("018f")))
                #expect(!back.isDeleted)
                #expect(back[member: "shop"] == .text(wire == .datasync ? "Лента" : "O'Кей"))
            }
        }

        @Test(arguments: Wire.allCases) func `a conflict contains the server's item`(wire: Wire) async throws {
            try await wire.run { server in
                let remote = try DatasyncRemote(url: server.url, dialect: wire.dialect)
                let first = try await remote.insert(.card("018f", "a")).version
                let second = try await remote.update(.card("018f", "b", first)).version ?? ""
                #expect(
                    await failure { () throws(RemoteFailure) in
                        try await remote.update(.card("018f", "c", first))
                    }?.line == "conflict 412 with \(second)")
                #expect(
                    await failure { () throws(RemoteFailure) in
                        try await remote.delete(.card("018f", "", first))
                    }?.line == "conflict 412 with \(second)")
                // Azure Mobile Apps echoes the request, without an item.
                #expect(
                    await failure { () throws(RemoteFailure) in
                        try await remote.insert(.card("018f", "d"))
                    }?.line == "conflict 409 with \(wire == .azure ? "nothing" : second)")
                #expect(try await remote.find("Card", key: .id("018f"))?[member: "shop"] == .text("b"))
            }
        }

        @Test(arguments: Wire.allCases) func `a table is read page by page`(wire: Wire) async throws {
            try await wire.run { server in
                let remote = try DatasyncRemote(url: server.url, dialect: wire.dialect)
                for number in 1...5 {
                    _ = try await remote.insert(.card(ServerID("id\(number)"), number < 4 ? "a" : "b"))
                }
                _ = try await remote.delete(.card("id2", ""))
                var ids: [String] = []
                var request = PageRequest(
                    table: "Card", order: .updatedAt(from: nil), top: 2, includeDeleted: true, wantsCount: true)
                while true {
                    let page = try await remote.page(request)
                    ids += page.items.map { $0.id.rawValue + ($0.isDeleted ? " deleted" : "") }
                    #expect(page.count == 5)
                    guard page.hasMore else { break }
                    request.skip += page.items.count
                }
                #expect(ids.sorted() == ["id1", "id2 deleted", "id3", "id4", "id5"])
                let filtered = try await remote.page(
                    PageRequest(
                        table: "Card", filter: .comparison(.init("shop"), by: .equal, to: .text("b")),
                        order: .id(after: "id4"))
                )
                #expect(filtered.items.map(\.id) == ["id5"])
            }
        }

        @Test(arguments: Wire.allCases) func `an object is found by its ID and by a property`(wire: Wire) async throws {
            try await wire.run { server in
                let remote = try DatasyncRemote(url: server.url, dialect: wire.dialect)
                _ = try await remote.insert(.card("018f", "a&b+c='d' %"))
                #expect(try await remote.find("Card", key: .property("shop", value: "a&b+c='d' %"))?.id == "018f")
                #expect(try await remote.find("Card", key: .property("shop", value: "a")) == nil)
                #expect(try await remote.find("Card", key: .id("none")) == nil)
            }
        }

        @Test(
            arguments: Wire.allCases,
            ["a/b", "a b", "it's", "a%2Fb", "кириллица", "a?b#c", "a+b&c=d", "...", "ID", "id", "a\\b", "\"x\""])
        func `unusual IDs are sent and received unchanged`(wire: Wire, id: String) async throws {
            try await wire.run { server in
                let remote = try DatasyncRemote(url: server.url, dialect: wire.dialect)
                let id = ServerID(id)
                let version = try await remote.insert(.card(id, "a")).version
                #expect(try await remote.update(.card(id, "b", version)).item?.id == id)
                #expect(try await remote.find("Card", key: .id(id))?[member: "shop"] == .text("b"))
                let page = try await remote.page(PageRequest(table: "Card", order: .id(after: nil)))
                #expect(page.items.map(\.id) == [id])
                _ = try await remote.delete(.card(id, ""))
                #expect(try await remote.find("Card", key: .id(id))?.isDeleted == true)
            }
        }

        @Test(arguments: Wire.allCases) func `an expired token is replaced and the request retried once`(
            wire: Wire
        ) async throws {
            let asked = Mutex<[AuthenticationReason]>([])
            try await wire.run {
                $0.user = { $0 == "fresh" ? "ada" : nil }
                $0.tables["card"] = ServerTable(isPerUser: true)
            } _: { server in
                let remote = try DatasyncRemote(url: server.url, dialect: wire.dialect) { reason in
                    asked.withLock { $0.append(reason) }
                    return wire.authentication(reason == .first ? "stale" : "fresh")
                }
                _ = try await remote.insert(.card("018f", "a"))
                _ = try await remote.find("Card", key: .id("018f"))
                #expect(asked.withLock { $0 } == [.first, .refused(status: 401)])
                let stranger = try DatasyncRemote(url: server.url, dialect: wire.dialect)
                #expect(
                    await failure { () throws(RemoteFailure) in try await stranger.find("Card", key: .id("018f")) }?
                        .line
                        == "unauthenticated 401")
            }
        }

        @Test(arguments: Wire.allCases) func `a request with a lost response may have been carried out`(
            wire: Wire
        ) async throws {
            try await wire.run {
                $0.faults = .script([[.lostResponse], [], [.lostRequest], [], [.status(503, retryAfter: 7)]])
            } _: { server in
                let remote = try DatasyncRemote(url: server.url, dialect: wire.dialect)
                let lost = await failure { () throws(RemoteFailure) in try await remote.insert(.card("018f", "a")) }
                #expect(lost?.line == "lost: closed")
                #expect(lost?.mayHaveActed == true)
                #expect(try await remote.find("Card", key: .id("018f")) != nil, "it was")
                let other = await failure { () throws(RemoteFailure) in try await remote.insert(.card("018e", "a")) }
                #expect(other?.line == "lost: closed")
                #expect(try await remote.find("Card", key: .id("018e")) == nil, "it was not, and the client can't know")
                let later = await failure { () throws(RemoteFailure) in try await remote.find("Card", key: .id("018f"))
                }
                #expect(later?.line == "later 503 in 7.0 seconds")
            }
        }

        @Test(arguments: Wire.allCases) func `concurrent writes succeed`(wire: Wire) async throws {
            try await wire.run { server in
                let remote = try DatasyncRemote(url: server.url, dialect: wire.dialect)
                try await withThrowingTaskGroup(of: String?.self) { group in
                    for number in 0..<100 {
                        group.addTask { try await remote.insert(.card(ServerID("id\(number)"), "\(number)")).version }
                    }
                    for try await version in group { #expect(version != nil) }
                }
                #expect(try server.core.rows(in: "Card").count == 100)
            }
        }

        @Test func `remotes share a transport`() async throws {
            try await RawServer.run({ _, _ in [http("200 OK", [], #"{"items":[]}"#)] }) { server in
                let transport = try AsyncHTTPTransport()
                let page = PageRequest(table: "Card", order: .id(after: nil))
                for _ in 0..<3 {
                    let remote = try DatasyncRemote(url: server.url, over: transport)
                    _ = try await remote.page(page)
                }
                #expect(server.connections == 1)
                await transport.shutdown()
                let remote = try DatasyncRemote(url: server.url, over: transport)
                #expect(
                    await failure { () throws(RemoteFailure) in try await remote.page(page) }?.line
                        == "not sent: stopped")
            }
        }

        @Test(arguments: [
            "ftp://shop.example", "https://", "shop.example", "https://ada:s3cret@shop.example",
            "https://shop.example?token=s3cret", "https://shop.example/#s3cret", "/tables",
        ])
        func `an invalid server URL is refused`(url: String) throws {
            let error = #expect(throws: NetworkError.self) { try DatasyncRemote(url: #require(URL(string: url))) }
            #expect(error?.code == .invalidAddress)
            #expect(error.map { "\($0)".contains("s3cret") } == false)
        }
    }
}
