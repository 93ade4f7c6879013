import Foundation
import HTTPTypes
import Tandem
import TandemDatasync
import TandemServer
import TandemSync
import Testing

/// The code of this library's and the server's page, compiled and run. The lines between the markers are equal to the
/// pages'.
extension SocketTests {
    @Suite struct LibraryPageTests {
        @Model struct Card {
            var shop: String
        }

        private struct Session: Sendable {
            func token(isFresh: Bool) async throws -> String { isFresh ? "secret" : "old" }
        }

        private let serverURL: URL
        private let store: Store

        init() throws {
            serverURL = try #require(URL(string: "http://127.0.0.1:1"))
            store = try Store.inMemory(models: Card.self)
        }

        @Test func `a remote is created for a URL`() async throws {
            let session = Session()
            // TandemDatasync begins
            let remote = try DatasyncRemote(url: serverURL) { reason in
                .bearer(try await session.token(isFresh: reason != .first))
            }
            let sync = SyncContext(store: store, remote: remote)
            // TandemDatasync ends
            await #expect { try await sync.pull(Card.self) } throws: { ($0 as? SyncError)?.code == .unreachable }
        }

        @Test func `rows and files share one server`() async throws {
            let session = Session()
            // TandemDatasync begins
            let server = try DatasyncServer(url: serverURL) { reason in
                .bearer(try await session.token(isFresh: reason != .first))
            }
            let sync = SyncContext(store: store, server: server, user: "anna")
            // TandemDatasync ends
            await #expect { try await sync.pull(Card.self) } throws: { ($0 as? SyncError)?.code == .unreachable }
        }

        @Test func `a dialect is customized`() throws {
            // TandemDatasync begins
            var dialect = Dialect.azureMobileApps
            dialect.routes["Card"] = "api/cards"
            dialect.unauthenticated = [401, 403]
            dialect.format.nestedJSON = true
            // TandemDatasync ends
            #expect(try DatasyncRemote(url: serverURL, dialect: dialect).format.nestedJSON)
        }

        @Test(.enabled(if: TestCertificate.isPossible, "openssl is not installed"))
        func `a transport's configuration is set`() throws {
            let companyRoot = try TestCertificate(for: "DNS:company.example").pem
            // TandemDatasync begins
            var configuration = AsyncHTTPTransport.Configuration()
            configuration.exchangeTimeout = .seconds(20)
            configuration.trust = .certificates(pem: companyRoot)
            configuration.proxy = AsyncHTTPTransport.Proxy(host: "proxy.example", port: 3128)
            let remote = try DatasyncRemote(url: serverURL, configuration: configuration)
            // TandemDatasync ends
            #expect(remote.address == "http://127.0.0.1:1")
        }

        @Test func `limits are set`() throws {
            // TandemDatasync begins
            var limits = ResponseLimits()
            limits.bytes = 64 << 20
            let large = try DatasyncRemote(url: serverURL, limits: limits)
            // TandemDatasync ends
            #expect(large.address == "http://127.0.0.1:1")
        }

        @Test func `the numbers on the page equal those in the code`() {
            let (configuration, limits) = (AsyncHTTPTransport.Configuration(), ResponseLimits())
            #expect(configuration.connectTimeout == .seconds(10) && configuration.idleTimeout == .seconds(30))
            #expect(configuration.exchangeTimeout == .seconds(60) && limits.bytes == 16 << 20)
            #expect(limits.id == 255 && limits.version == 4096 && WireFormat.maximumDigits == 10_000)
        }

        // MARK: The server

        @Test func `a server is started in a test`() async throws {
            // TandemServer begins
            let server = try await TandemServer.start(ServerCore.inMemory())
            let remote = try DatasyncRemote(url: server.url)
            // ...
            try await server.stop()
            // TandemServer ends
            #expect(remote.address == server.url.absoluteString)
        }

        @Test func `a server is configured`() async throws {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).tandem").path
            defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
            // TandemServer begins
            var configuration = ServerConfiguration(dialect: .datasync)
            configuration.tables["card"] = ServerTable(isPerUser: true)
            configuration.otherTables = nil
            configuration.user = { token in token == "secret" ? "anna" : nil }
            configuration.hooks.validate = { table, members in
                members["shop"] == "" ? ["A card must have a shop."] : []
            }
            let core = try ServerCore.onFile(at: path, configuration: configuration)
            let server = try await TandemServer.start(core)
            // TandemServer ends
            let remote = try DatasyncRemote(url: server.url) { _ in .bearer("secret") }
            let sync = SyncContext(store: store, remote: remote)
            try await store.write { tx in
                try tx.insert(Card(shop: "Лента"))
                try tx.insert(Card(shop: ""))
            }
            let result = try await sync.push()
            #expect(result.failedOperations.count == 1 && result.failedOperations[0].message.contains("shop"))
            #expect(try core.rows(in: "card").map(\.user) == ["anna"])
            try await server.stop()
        }

        @Test func `a server stores files`() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
            defer { try? FileManager.default.removeItem(atPath: folder) }
            var configuration = ServerConfiguration()
            configuration.user = { $0 == "secret" ? "anna" : nil }
            // TandemServer begins
            configuration.files = ServerFiles(try FileStorage.inFolder(at: folder))
            configuration.files?.isPerUser = true
            // TandemServer ends
            #expect(configuration.files?.limit == 4 << 30)
            let server = try await TandemServer.start(ServerCore.inMemory(configuration: configuration))
            let (session, serverURL) = (Session(), server.url)
            let (id, bytes) = ("3b1c7e90d5f24a68b7029ce4816fd35a", Array("test".utf8))
            // TandemDatasync begins
            let files = try TandemFiles(url: serverURL) { reason in
                .bearer(try await session.token(isFresh: reason != .first))
            }
            let receipt = OutgoingFile(id: id, name: "чек.txt", contentType: "text/plain", bytes: bytes)
            let uploaded = try await files.upload(receipt)
            // TandemDatasync ends
            #expect(uploaded.url == "\(serverURL.absoluteString)/files/\(id)")
            // The digest in the page's example.
            let page = try Snippets.text(of: "Sources/TandemServer/TandemServer.docc/FileProtocol.md")
            #expect(page.contains("PUT /files/\(id) HTTP/1.1"))
            // The ID of the file does not depend on its content.
            #expect(!receipt.sha256.hasPrefix(id))
            let digest = Data(
                stride(from: 0, to: 64, by: 2).map { index in
                    UInt8(receipt.sha256.dropFirst(index).prefix(2), radix: 16) ?? 0
                })
            #expect(page.contains("Repr-Digest: sha-256=:\(digest.base64EncodedString()):"))
            try await server.stop()
        }

        @Test func `a table declares its columns`() {
            var configuration = ServerConfiguration()
            // TandemServer begins
            configuration.tables["film"] = ServerTable(columns: [
                ServerColumn("title", type: .text),
                ServerColumn("year", type: .integer),
                ServerColumn("rating", type: .enumeration(["G", "PG", "R"])),
                ServerColumn("begins", type: .timeOfDay),
            ])
            // TandemServer ends
            #expect(configuration.tables["film"]?.columns?.map(\.name) == ["title", "year", "rating", "begins"])
        }

        @Test func `a server's faults follow a script`() async throws {
            var configuration = ServerConfiguration()
            // TandemServer begins
            configuration.faults = .script([[.lostResponse], [], [.status(503, retryAfter: 7)]])
            // TandemServer ends
            let core = try ServerCore.inMemory(configuration: configuration)
            let server = try await TandemServer.start(core)
            let remote = try DatasyncRemote(url: server.url)
            let lines = [
                await failure { () throws(RemoteFailure) in try await remote.insert(.card("a", "x")) }?.line,
                await failure { () throws(RemoteFailure) in try await remote.find("Card", key: .id("a")) }?.line,
                await failure { () throws(RemoteFailure) in try await remote.find("Card", key: .id("a")) }?.line,
            ]
            #expect(lines == ["lost: closed", nil, "later 503 in 7.0 seconds"])
            try await server.stop()
        }

        @Test func `the command's options on the page equal those in its help`() async throws {
            let command = try ServerProcess(["--help"])
            #expect(try await command.end() == 0)
            func words(_ text: some StringProtocol) -> [Substring] {
                text.split { $0.isWhitespace }.map { Substring($0) }
            }
            let printed = try #require(command.text.range(of: "USAGE:"))
            let page = try Snippets.text(of: "Sources/TandemServer/TandemServer.docc/TandemServer.md")
            let start = try #require(page.range(of: "USAGE:"))
            let end = try #require(page[start.lowerBound...].range(of: "```"))
            #expect(words(page[start.lowerBound..<end.lowerBound]) == words(command.text[printed.lowerBound...]))
        }

        @Test func `the pages' code equals the tested code`() throws {
            for library in ["TandemDatasync", "TandemServer"] {
                try Snippets.expectTested(library, of: library, in: #filePath)
            }
        }
    }
}
