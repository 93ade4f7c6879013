import Foundation
import Synchronization
import Tandem
import TandemSync
import TandemTesting
import TestSupport
import Testing

// The remote of the article on writing one. The lines between the markers equal the article's.

// WritingARemote begins
final class ShelfRemote: Remote {
    private struct Shelf {
        var rows: [RemoteTableName: [ServerID: RemoteItem]] = [:]
        var writes = 0
    }

    private let shelf = Mutex(Shelf())
    let format = WireFormat(fractionDigits: 3)
    func url(of table: RemoteTableName) -> String? { "shelf://here/\(table)" }

    func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
        guard request.filter == nil else {
            throw .notEncodable(
                RequestEncodingError(.filter, message: "This server has no filters.", table: request.table))
        }
        var rows = shelf.withLock { Array(($0.rows[request.table] ?? [:]).values) }
            .filter { request.includeDeleted || !$0.isDeleted }
        let count = rows.count
        switch request.order {
        case .id(let last):
            rows.sort { $0.id.rawValue < $1.id.rawValue }
            if let last { rows.removeAll { $0.id.rawValue <= last.rawValue } }
        case .updatedAt(let place):
            // Times with the same number of digits sort like their texts.
            rows.sort { ($0.updatedAt?.text ?? "", $0.id.rawValue) < ($1.updatedAt?.text ?? "", $1.id.rawValue) }
            if let place { rows.removeAll { row in row.updatedAt.map { $0 < place } ?? true } }
        }
        let rest = rows.dropFirst(request.skip)
        return RemotePage(
            items: Array(rest.prefix(request.top)), hasMore: rest.count > request.top,
            count: request.wantsCount ? count : nil, serverDate: Date())
    }

    func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? {
        shelf.withLock { shelf in
            switch key {
            case .id(let id): shelf.rows[table]?[id]
            case .property(let name, let text):
                shelf.rows[table]?.values.first { $0[member: name] == .text(text) }
            }
        }
    }

    func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try write(item) { row throws(RemoteFailure) in
            if let row { throw .conflict(status: 409, item: row) }
            return Self.merged(item, into: RemoteItem(id: item.id ?? ServerID(UUID().uuidString)), all: true)
        }
    }

    func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try write(item) { row throws(RemoteFailure) in
            Self.merged(item, into: try Self.current(row, for: item), all: false)
        }
    }

    func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try write(item) { row throws(RemoteFailure) in
            var tombstone = try Self.current(row, for: item)
            tombstone.isDeleted = true
            return tombstone
        }
    }

    func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try write(item) { row throws(RemoteFailure) in
            var row = try Self.current(row, for: item, deleted: true)
            row.isDeleted = false
            return Self.merged(item, into: row, all: true)
        }
    }

    // MARK: -

    /// Returns the row if it exists and still has the version on which the change is based.
    private static func current(
        _ row: RemoteItem?, for item: OutgoingItem, deleted: Bool = false
    ) throws(RemoteFailure) -> RemoteItem {
        guard let row else { throw .notFound }
        guard !row.isDeleted || deleted else { throw .gone }
        guard item.version == nil || item.version == row.version else { throw .conflict(status: 412, item: row) }
        return row
    }

    private static func merged(_ item: OutgoingItem, into row: RemoteItem, all: Bool) -> RemoteItem {
        var row = row
        for member in item.members where all || item.changed.contains(member.key) {
            row.members.removeAll { $0.key == member.key }
            row.members.append(member)
        }
        return row
    }

    /// Reads and writes a row in one step, without another write in between.
    private func write(
        _ item: OutgoingItem, _ change: (RemoteItem?) throws(RemoteFailure) -> RemoteItem
    ) throws(RemoteFailure) -> RemoteResponse {
        try shelf.withLock { shelf throws(RemoteFailure) in
            var row = try change(item.id.flatMap { shelf.rows[item.table]?[$0] })
            shelf.writes += 1
            row.version = "\(shelf.writes)"
            row.updatedAt = WireTimestamp(Date(), fractionDigits: format.fractionDigits)
            shelf.rows[item.table, default: [:]][row.id] = row
            return RemoteResponse(item: row, version: row.version, serverDate: Date())
        }
    }
}
// WritingARemote ends

/// A test of the article's remote with two devices.
@Suite(.ownThreads) struct WritingARemoteArticleTests {
    @Model struct Card {
        @Folded var shop: String
        var points = 0
    }

    @Test func `two devices synchronize over the remote`() async throws {
        let store = try Store.inMemory(models: Card.self)
        let card = try await store.write { try $0.insert(Card(shop: "Лента")) }
        // WritingARemote begins
        let shelf = ShelfRemote()
        let sync = SyncContext(store: store, remote: shelf)
        try await sync.synchronize()
        // WritingARemote ends
        let otherStore = try Store.inMemory(models: Card.self)
        let other = SyncContext(store: otherStore, remote: shelf)
        try await other.synchronize()
        #expect(try await otherStore.objects(Card.self).all().map(\.shop) == ["Лента"])
        // Both change it.
        try await store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 10 } }
        try await otherStore.write { _ = try $0.update(Card.self, localID: card.localID) { $0.shop = "Магнит" } }
        for context in [sync, other, sync] { #expect(try await context.synchronize().isComplete) }
        for here in [store, otherStore] {
            let card = try #require(try await here.objects(Card.self).first())
            #expect(card.shop == "Магнит" && card.points == 10 && card.isSynced)
        }
        // A device deletes it, and an edit restores it.
        try await otherStore.write { _ = try $0.delete(Card.self, localID: card.localID) }
        try await other.synchronize()
        try sync.table(Card.self).setConflicts(.merge(deletes: .editWins))
        try await store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 20 } }
        for context in [sync, other] { #expect(try await context.synchronize().isComplete) }
        #expect(try await otherStore.objects(Card.self).all().map(\.points) == [20])
        // A delete is propagated.
        try await store.write { _ = try $0.delete(Card.self, localID: card.localID) }
        for context in [sync, other] { #expect(try await context.synchronize().isComplete) }
        #expect(try await store.objects(Card.self).count() == 0)
        #expect(try await otherStore.objects(Card.self).count() == 0)
    }

    @Test func `many objects arrive page by page in both orders`() async throws {
        let shelf = ShelfRemote()
        let store = try Store.inMemory(models: Card.self)
        try await store.write { tx in for number in 0..<250 { try tx.insert(Card(shop: "\(number)")) } }
        #expect(try await SyncContext(store: store, remote: shelf).push().isComplete)
        for queryID in ["cards", nil] {
            let device = try Store.inMemory(models: Card.self)
            var options = SyncContext.Options()
            options.pageSize = 7
            let sync = SyncContext(store: device, remote: shelf, options: options)
            #expect(try await sync.pull(Card.self, queryID: queryID).inserted == 250)
        }
    }

    @Test func `an unsupported filter is reported`() async throws {
        let sync = SyncContext(store: try Store.inMemory(models: Card.self), remote: ShelfRemote())
        await #expect { try await sync.pull(Card.self) { $0.points > 1 } } throws: {
            ($0 as? SyncError)?.code == .unsupportedFilter
        }
    }

    // WritingARemote begins
    @Test(arguments: RemoteConformance.requirements)
    func `the shelf meets a requirement`(requirement: RemoteConformance.Requirement) async throws {
        var features = RemoteFeatures()
        features.filters = false
        let tested = TestedRemote(ShelfRemote(), table: "Card", features: features)
        try await requirement.check(on: tested)
    }
    // WritingARemote ends

    @Test func `the article's report is that of its remote`() async throws {
        let shelf = ShelfRemote()
        var features = RemoteFeatures()
        features.filters = false
        // WritingARemote begins
        let report = await RemoteConformance.report(on: TestedRemote(shelf, table: "Card", features: features))
        print(report)
        // WritingARemote ends
        let article = try Snippets.text(of: "Sources/TandemSync/TandemSync.docc/WritingARemote.md")
        for line in report.description.split(separator: "\n").prefix(2) { #expect(article.contains(line), "\(line)") }
    }

    @Test func `the article's code equals the tested code`() throws {
        try Snippets.expectTested("WritingARemote", of: "TandemSync", in: #filePath)
    }
}
