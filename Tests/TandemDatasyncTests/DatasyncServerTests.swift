import Foundation
import Synchronization
import Tandem
import TandemDatasync
import TandemServer
import TandemSync
import Testing

/// A server of rows and files that is named once.
extension SocketTests {
    @Suite struct DatasyncServerTests {
        @Test func `Rows and files go to one server with one login`() async throws {
            let storage = FileStorage.inMemory()
            var configuration = ServerConfiguration(dialect: .datasync)
            configuration.user = { $0 == "new" ? "anna" : nil }
            configuration.otherTables = ServerTable(isPerUser: true)
            configuration.files = ServerFiles(storage)
            configuration.files?.isPerUser = true
            let core = try ServerCore.inMemory(configuration: configuration)
            let reasons = Mutex<[AuthenticationReason]>([])
            let store = try Store.inMemory(models: Film.self)
            let file = try store.attachments.add([UInt8](repeating: 7, count: 2000), name: "film.bin")
            try await store.write { _ = try $0.insert(Film(title: "Фильм", file: file)) }
            try await running(TandemServer.start(core)) { running in
                let server = try DatasyncServer(url: running.url) { reason in
                    reasons.withLock { $0.append(reason) }
                    return .bearer(reason == .first ? "old" : "new")
                }
                let sync = SyncContext(store: store, server: server, user: "anna")
                let result = try await sync.synchronize()
                #expect(result.isComplete, "\(result.issues)")
                #expect(server.files.address == server.remote.address)
            }
            #expect(try core.rows(in: "film").map(\.user) == ["anna"])
            #expect(try storage.files().map(\.owner) == ["anna"])
            // The rows' login serves the files.
            #expect(reasons.withLock { $0 } == [.first, .refused(status: 401)])
        }

        @Test func `An invalid URL is an error without the URL`() throws {
            let url = try #require(URL(string: "ftp://ada:hunter2@shop.example"))
            let error = #expect(throws: NetworkError.self) { _ = try DatasyncServer(url: url) }
            #expect(error?.code == .invalidAddress && error.map { "\($0)" }?.contains("hunter2") == false)
            let valid = try #require(URL(string: "https://shop.example"))
            let former = #expect(throws: NetworkError.self) { _ = try DatasyncServer(url: valid, formerURLs: [url]) }
            #expect(former?.code == .invalidAddress && former.map { "\($0)" }?.contains("hunter2") == false)
        }
    }
}
