import Foundation
import Synchronization
import Tandem
import TandemDatasync
import TandemServer
import TandemSync
import Testing

/// The code of the first article on sync, compiled and run. The lines between the markers are equal to the article's.
private enum Models {
    // GettingStartedWithSync begins
    @Model struct Person {
        @Folded var name: String
    }

    @Model struct Card {
        @Folded var shop: String
        var points = 0
        @LocalOnly var isPinned = false
        var owner: Reference<Person>?
    }
    // GettingStartedWithSync ends
}

extension SocketTests {
    @Suite struct GettingStartedWithSyncTests {
        private typealias Person = Models.Person
        private typealias Card = Models.Card

        private struct Session: Sendable {
            func token(isFresh: Bool) async throws -> String { isFresh ? "secret" : "old" }
        }

        private struct Spinner {
            var isHidden = false
        }

        private func withServer(_ body: (URL) async throws -> Void) async throws {
            var configuration = ServerConfiguration()
            configuration.user = { $0 == "secret" ? "anna" : nil }
            configuration.otherTables = ServerTable(isPerUser: true)
            let server = try await TandemServer.start(.inMemory(configuration: configuration))
            try await running(server) { server in try await body(server.url) }
        }

        private func context(_ store: Store, _ url: URL, user: String? = "anna") throws -> SyncContext {
            SyncContext(store: store, remote: try DatasyncRemote(url: url) { _ in .bearer("secret") }, user: user)
        }

        @Test func `a store is synchronized to a second device`() async throws {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).tandem").path
            defer {
                for end in ["", "-wal", "-shm", "-sync"] { try? FileManager.default.removeItem(atPath: path + end) }
            }
            let session = Session()
            let printed = Mutex<[String]>([])
            func print(_ values: Any...) {
                printed.withLock { $0.append(values.map { "\($0)" }.joined(separator: " ")) }
            }
            try await withServer { serverURL in
                // GettingStartedWithSync begins
                let remote = try DatasyncRemote(url: serverURL) { reason in
                    .bearer(try await session.token(isFresh: reason != .first))
                }
                let store = try Store(at: path, models: Person.self, Card.self)
                let sync = SyncContext(store: store, remote: remote, user: "anna")
                // GettingStartedWithSync ends
                // GettingStartedWithSync begins
                let card = try await store.write { tx in
                    let ada = try tx.insert(Person(name: "Ада"))
                    return try tx.insert(Card(shop: "Пятёрочка", owner: ada.reference))
                }
                let result = try await sync.synchronize()
                print(result.isComplete, result.entries.count)  // true 2
                // GettingStartedWithSync ends
                let otherStore = try Store.inMemory(models: Person.self, Card.self)
                let other = try context(otherStore, serverURL)
                // GettingStartedWithSync begins
                try await other.synchronize()
                print(try await otherStore.objects(Card.self).where { $0.owner.name == "Ада" }.count())  // 1
                // GettingStartedWithSync ends
                // GettingStartedWithSync begins
                try await store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 10 } }
                try await otherStore.write { _ = try $0.update(Card.self, localID: card.localID) { $0.shop = "Лента" } }
                try await sync.synchronize()
                try await other.synchronize()
                try await sync.synchronize()
                // GettingStartedWithSync ends
                for here in [store, otherStore] {
                    let card = try #require(try await here.objects(Card.self).first())
                    #expect(card.shop == "Лента" && card.points == 10 && card.isSynced)
                }
                store.close()
            }
            #expect(printed.withLock { $0 } == ["true 2", "1"])
        }

        @Test func `the sync state and the status of pending changes are shown`() async throws {
            try await withServer { url in
                let store = try Store.inMemory(models: Person.self, Card.self)
                let sync = try context(store, url)
                let card = try await store.write { try $0.insert(Card(shop: "Лента")) }
                var shown: [String] = []
                func show(_ text: String) { shown.append(text) }
                var spinner = Spinner()
                // The status has been read once, which ends the loop.
                var badge = -1 { didSet { store.close() } }
                try await sync.push()
                // GettingStartedWithSync begins
                switch try await sync.state(of: card) {
                case .synced: show("✓")
                case .pending, .sending: show("…")
                case .retrying(_, let error): show("will be retried: \(error.message)")
                case .failed(_, let error), .conflict(_, let error): show(error.message)
                case .held: show("held back")
                case .waiting(_, let object, let model): show("waits for \(model) \(object)")
                case .waitingForFiles(let count, let reason): show(reason ?? "uploads \(count)")
                case nil: show("")
                }
                // GettingStartedWithSync ends
                // GettingStartedWithSync begins
                for try await status in sync.statuses {
                    spinner.isHidden = !status.isSyncing
                    badge = status.pending + status.failed
                }
                // GettingStartedWithSync ends
                #expect(spinner.isHidden && badge == 0 && shown == ["✓"])
            }
        }

        @Test func `an unreachable server and refused credentials are distinguished`() async throws {
            let store = try Store.inMemory(models: Person.self, Card.self)
            try await store.write { _ = try $0.insert(Card(shop: "Лента")) }
            var shown: [String] = []
            func show(_ text: String) { shown.append(text) }
            func signIn() { shown.append("sign in") }
            try await withServer { url in
                let anonymous = SyncContext(store: store, remote: try DatasyncRemote(url: url) { _ in .bearer("no") })
                let gone = try #require(URL(string: "http://127.0.0.1:1"))
                for sync in [try context(store, gone, user: nil), anonymous] {
                    // GettingStartedWithSync begins
                    do {
                        let result = try await sync.synchronize()
                        for issue in result.issues { show("\(issue)") }
                    } catch SyncError.Code.unreachable {
                        show("No network. Your changes will be sent later.")
                    } catch SyncError.Code.unauthenticated {
                        signIn()
                    }
                    // GettingStartedWithSync ends
                }
            }
            #expect(shown == ["No network. Your changes will be sent later.", "sign in"])
            #expect(try store.operations.count() == 1)
        }

        @Test func `data of another user is refused until it is adopted`() async throws {
            try await withServer { url in
                let store = try Store.inMemory(models: Person.self, Card.self)
                try await store.write { _ = try $0.insert(Card(shop: "Лента")) }
                try await context(store, url).synchronize()
                let next = try context(store, url, user: "boris")
                // GettingStartedWithSync begins
                do {
                    try await next.synchronize()
                } catch SyncError.Code.otherUser {
                    try await next.adopt(.purge)
                }
                // GettingStartedWithSync ends
                #expect(try await next.owner == "boris")
                #expect(try await store.objects(Card.self).count() == 0)
            }
        }

        @Test func `the article's code equals the tested code`() throws {
            try Snippets.expectTested("GettingStartedWithSync", of: "TandemSync", in: #filePath)
        }
    }
}
