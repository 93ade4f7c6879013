import Foundation
import HTTPTypes
import TandemDatasync
import TandemSync
import Testing

/// The executable, as a process.
extension SocketTests {
    @Suite struct ServerCommandTests {
        @Test(arguments: [SIGTERM, SIGINT])
        func `the command prints its address and purpose, and stops at a signal`(signal: Int32) async throws {
            let server = try ServerProcess(["--port", "0"])
            let url = try #require(await server.url(), "\(server.text)")
            let remote = try DatasyncRemote(url: url)
            #expect(try await remote.insert(.card("018f", "a")).item?.id == "018f")
            #expect(try await server.stop(signal) == 0)
            #expect(server.text.contains("for development and tests"))
            #expect(server.text.contains("Datasync on ASP.NET"))
            #expect(server.text.hasSuffix("tandem-server has stopped\n"))
        }

        @Test func `a store in a file survives the command`() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let arguments = ["--port", "0", "--store", folder.appendingPathComponent("rows.tandem").path]
            for round in 0..<2 {
                let server = try ServerProcess(arguments)
                let remote = try DatasyncRemote(url: #require(await server.url(), "\(server.text)"))
                if round == 0 { _ = try await remote.insert(.card("018f", "a")) }
                #expect(try await remote.find("Card", key: .id("018f"))?[member: "shop"] == .text("a"))
                #expect(try await server.stop(SIGTERM) == 0)
            }
        }

        @Test func `files in a folder survive the command, and without a folder none are served`() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            var uploaded: [UploadedFile] = []
            for _ in 0..<2 {
                let server = try ServerProcess(["--port", "0", "--files", folder.path])
                let files = try TandemFiles(url: #require(await server.url(), "\(server.text)"))
                uploaded.append(try await files.upload(FileSockets.file(3_000_000)))
                #expect(server.text.contains("Files are in \(folder.path)"))
                #expect(try await server.stop(SIGTERM) == 0)
            }
            #expect(uploaded[0].etag == uploaded[1].etag)
            let server = try ServerProcess(["--port", "0"])
            let files = try TandemFiles(url: #require(await server.url(), "\(server.text)"))
            #expect(await fileFailure { try await files.upload(FileSockets.file(10)) } == "not found")
            #expect(try await server.stop(SIGTERM) == 0)
        }

        @Test func `the command serves the given tables, users and dialect`() async throws {
            let server = try ServerProcess([
                "--port", "0", "--dialect", "azure-mobile-apps", "--table", "Shop", "--user-table", "Card", "--user",
                "t=ada", "--user", "u=eve",
            ])
            let url = try #require(await server.url(), "\(server.text)")
            let ada = try DatasyncRemote(url: url, dialect: .azureMobileApps) { _ in .zumo("t") }
            let eve = try DatasyncRemote(url: url, dialect: .azureMobileApps) { _ in .zumo("u") }
            let anonymous = try DatasyncRemote(url: url, dialect: .azureMobileApps)
            _ = try await eve.insert(.card("018f", "a"))
            #expect(try await eve.find("Card", key: .id("018f")) != nil)
            #expect(try await ada.find("Card", key: .id("018f")) == nil, "it is eve's")
            #expect(try await anonymous.find("Shop", key: .id("018f")) == nil)
            #expect(
                await failure { () throws(RemoteFailure) in try await anonymous.find("Card", key: .id("018f")) }?.line
                    == "unauthenticated 401")
            #expect(
                await failure { () throws(RemoteFailure) in
                    try await anonymous.page(PageRequest(table: "Other", order: .id(after: nil)))
                }?.line == "refused 404")
            #expect(try await server.stop(SIGTERM) == 0)
        }

        @Test func `the command serves the given columns`() async throws {
            let server = try ServerProcess([
                "--port", "0", "--column", "film.year:integer", "--column", "film.rating:enum(R, G,PG)", "--column",
                "film.begins:timeOfDay",
            ])
            let url = try #require(await server.url(), "\(server.text)")
            let transport = try AsyncHTTPTransport()
            for film in [
                #"{"id":"1","year":2001,"rating":"PG","begins":"07:14:00"}"#, #"{"id":"2","year":1999,"rating":"R"}"#,
                #"{"id":"3","year":2024,"rating":"G","begins":"23:59:59"}"#,
            ] {
                let post = request(.post, "/tables/film", to: url, [.contentType: "application/json"])
                let (response, _) = try await transport.send(post, body: Array(film.utf8), limit: 1 << 20)
                #expect(response.status == .created)
            }
            for query in ["$filter=yaer%20eq%201999", "$orderby=yaer", "$select=yaer", "$select=year%20rating"] {
                let get = request(.get, "/tables/film?\(query)", to: url)
                let (response, _) = try await transport.send(get, body: [], limit: 1 << 20)
                #expect(response.status == .badRequest, "\(query)")
            }
            struct Page: Decodable {
                struct Item: Decodable { let id: String }
                let items: [Item]
            }
            for (query, ids) in [("$orderby=rating", "231"), ("$filter=hour(begins)%20eq%207", "1")] {
                let body = try await text(transport, request(.get, "/tables/film?\(query)", to: url))
                let page = try JSONDecoder().decode(Page.self, from: Data(body.utf8))
                #expect(page.items.map(\.id).joined() == ids, "\(body)")
            }
            #expect(try await server.stop(SIGTERM) == 0)
        }

        @Test func `the command applies the given faults`() async throws {
            let lost = try ServerProcess(["--port", "0", "--lost-responses", "1"])
            let remote = try DatasyncRemote(url: #require(await lost.url(), "\(lost.text)"))
            #expect(
                await failure { () throws(RemoteFailure) in try await remote.insert(.card("018f", "a")) }?.line
                    == "lost: closed")
            #expect(try await lost.stop(SIGTERM) == 0)

            let skewed = try ServerProcess(["--port", "0", "--skew", "-86400", "--conflicts", "1"])
            let other = try DatasyncRemote(url: #require(await skewed.url(), "\(skewed.text)"))
            let response = try await other.insert(.card("018f", "a"))
            #expect(try #require(response.serverDate).timeIntervalSinceNow < -80_000)
            let conflict = await failure { () throws(RemoteFailure) in
                try await other.update(.card("018f", "b", response.version))
            }
            #expect(conflict?.line.hasPrefix("conflict 412") == true)
            #expect(try await skewed.stop(SIGTERM) == 0)

            for (option, line) in [("--errors", "later 503"), ("--throttled", "later 429 in 1.0 seconds")] {
                let busy = try ServerProcess(["--port", "0", option, "1"])
                let remote = try DatasyncRemote(url: #require(await busy.url(), "\(busy.text)"))
                #expect(
                    await failure { () throws(RemoteFailure) in try await remote.find("Card", key: .id("018f")) }?.line
                        == line)
                #expect(try await busy.stop(SIGTERM) == 0)
            }
        }

        @Test(arguments: [
            ["--port", "65536"], ["--lost-responses", "1.5"], ["--latency", "-1"], ["--user", "ada"],
            ["--dialect", "soap"],
            ["--user-table", "Card"], ["--certificate", "x.pem"], ["--page-size", "0"], ["now"],
            ["--column", "year:integer"], ["--column", "film.year:int"], ["--column", "film.rating:enum()"],
            ["--table", "shop", "--column", "film.year:integer"],
            ["--column", "film.year:integer", "--column", "Film.Year:text"], ["--column", "film.ID:guid"],
        ])
        func `invalid options are refused`(arguments: [String]) async throws {
            let server = try ServerProcess(arguments)
            #expect(try await server.end() == 64)
            #expect(server.text.contains("Error: "))
        }

        @Test func `a failure to start is reported`() async throws {
            let missing = try ServerProcess(["--port", "0", "--store", "/nonexistent/folder/x"])
            #expect(try await missing.end() == 1)
            #expect(missing.text.contains("/nonexistent/folder"))
            let server = try ServerProcess(["--port", "0"])
            let port = try #require(await server.url()?.port)
            let second = try ServerProcess(["--port", "\(port)"])
            #expect(try await second.end() == 1)
            #expect(second.text.contains("Can't listen on 127.0.0.1, port \(port)."))
            #expect(try await server.stop(SIGTERM) == 0)
        }
    }
}
