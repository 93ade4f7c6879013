import Foundation
import Tandem
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// The code of the library's page and of the article on how sync works, compiled and run. The lines between the markers
/// equal the articles'.
@Suite(.ownThreads) struct SyncArticleTests {
    @Model struct Card {
        @Folded var shop: String
        var points = 0
    }

    private let store: Store
    private let remote = ScriptedRemote()

    init() throws {
        store = try Store.inMemory(models: Card.self)
    }

    @Test func `a sync reports its result`() async throws {
        try await store.write { _ = try $0.insert(Card(shop: "Лента")) }
        remote.next(.fail(.refused(status: 400, message: "no")), on: .insert)
        let printed = Synchronized<[String]>([])
        func print(_ values: Any...) { printed.change { $0.append("\(values)") } }
        // TandemSync begins
        let sync = SyncContext(store: store, remote: remote)
        let result = try await sync.synchronize()
        for issue in result.issues { print(issue) }
        // TandemSync ends
        #expect(printed.value.count == 1)
    }

    @Test func `a push reports the outcome of each operation`() async throws {
        let sync = SyncContext(store: store, remote: remote)
        try await store.write { tx in
            try tx.insert(Card(shop: "Лента"))
            try tx.insert(Card(shop: ""))
        }
        remote.next(.loseRequest)
        let printed = Synchronized<[String]>([])
        func print(_ values: Any...) { printed.change { $0.append("\(values)") } }
        // HowSyncWorks begins
        try sync.table(Card.self).setBeforeSend { operation in
            operation.object.shop.isEmpty ? .hold : .send
        }
        // HowSyncWorks ends
        // HowSyncWorks begins
        do {
            let result = try await sync.push()
            for issue in result.issues { print(issue) }
        } catch let error as SyncError {
            print("The push stopped: \(error)")
            for issue in error.result?.issues ?? [] { print(issue) }
        }
        // HowSyncWorks ends
        // The second one is held, or was not reached.
        #expect(printed.value.count >= 2 && printed.value.first?.contains("The push stopped") == true)
        try await sync.push()
        #expect(remote.items(in: "Card").count == 1)
        #expect(try store.operations.all().map(\.state) == [.held])
    }

    @Test func `a full pull removes objects that the server no longer has`() async throws {
        let remote = ScriptedRemote(softDelete: false)
        let sync = SyncContext(store: store, remote: remote)
        for id in ["a", "b"] as [ServerID] { remote.edit("Card", id: id) { $0.members = [("shop", .text("Лента"))] } }
        try await sync.pull(Card.self)
        remote.remove("Card", id: "b")
        let printed = Synchronized<[String]>([])
        func print(_ values: Int...) { printed.change { $0.append("\(values)") } }
        // HowSyncWorks begins
        let all = try await sync.pull(Card.self)
        print(all.inserted, all.updated, all.deleted, all.unchanged)
        // HowSyncWorks ends
        #expect(printed.value == ["[0, 0, 1, 1]"])
    }

    @Test func `a purge waits for unsent changes`() async throws {
        let sync = SyncContext(store: store, remote: remote)
        try await store.write { _ = try $0.insert(Card(shop: "Лента")) }
        // HowSyncWorks begins
        do {
            try await sync.purge(Card.self)
        } catch SyncError.Code.pendingOperations {
            try await sync.push()
            try await sync.purge(Card.self)
        }
        // HowSyncWorks ends
        #expect(try await store.objects(Card.self).count() == 0 && remote.items(in: "Card").count == 1)
    }

    @Test func `an edit of an object deleted there is reported`() async throws {
        let sync = SyncContext(store: store, remote: remote)
        remote.edit("Card", id: "a") { $0.members = [("shop", .text("Лента"))] }
        try await sync.pull(Card.self, queryID: "cards")
        try await store.write { _ = try $0.update(Card.self, localID: "a") { $0.points = 9 } }
        remote.remove("Card", id: "a")
        let printed = Synchronized<[String]>([])
        func print(_ text: String) { printed.change { $0.append(text) } }
        // HowSyncWorks begins
        let result = try await sync.synchronize([PullQuery(Card.self, queryID: "cards")])
        for edit in result.lostEdits {
            if let card = edit.of(Card.self) {
                let change = edit.isDeletedOnServer ? "deleted" : "changed"
                print("\(card.shop) was \(change) on the server. Not sent: \(card.points) points")
            }
        }
        // HowSyncWorks ends
        #expect(printed.value == ["Лента was deleted on the server. Not sent: 9 points"])
    }

    @Test func `the articles' code equals the tested code`() throws {
        for article in ["TandemSync", "HowSyncWorks"] {
            try Snippets.expectTested(article, of: "TandemSync", in: #filePath)
        }
    }
}
