import Foundation
import Tandem
import TandemSync
import TestSupport
import Testing

/// The cost of a pull without the server and the wire, in instructions of SQLite's virtual machine. Their number does
/// not depend on the machine's load. `make bench` measures time.
@Suite(.ownThreads) struct PullSpeedTests {
    private static let count = isSoak ? 100_000 : 3_000
    private static let models: [any Model.Type] = [Person.self, Card.self, Pet.self]

    /// A server without cost: each page is made on request, from a number for each item.
    private struct Counter: Remote {
        let format = WireFormat()
        let count: Int

        func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
            var first = 0
            switch request.order {
            case .updatedAt(let place): first = place.map { Int($0.seconds - 1_700_000_000) } ?? 0
            case .id(let last): first = last.flatMap { Int($0.rawValue) }.map { $0 - 1_000_000 + 1 } ?? 0
            }
            let last = min(first + request.top, count)
            let items = (first..<max(first, last)).map { number in
                RemoteItem(
                    id: ServerID("\(1_000_000 + number)"), version: "AAAAAAAAB9E=",
                    updatedAt: WireTimestamp(
                        Date(timeIntervalSince1970: Double(1_700_000_000 + number)), fractionDigits: 3),
                    members: [
                        ("shop", .text("Пятёрочка \(number)")), ("barcode", .text("46\(number)")),
                        ("points", .integer(Int64(number))), ("nickname", .null), ("expires", .null), ("owner", .null),
                    ])
            }
            return RemotePage(items: items, hasMore: items.count == request.top)
        }

        private var no: RemoteFailure { .notFound }
        func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? { throw no }
        func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw no }
        func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw no }
        func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw no }
        func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw no }
    }

    /// The instructions for one object.
    private struct Costs {
        /// Inserted by the app, a hundred in a transaction.
        var inserted: Double
        /// Inserted by an incremental pull.
        var pulled: Double
        /// Found unchanged by a full pull.
        var unchanged: Double
    }

    private func costs(of count: Int) async throws -> Costs {
        func cost(on store: Store, _ body: () async throws -> Void) async throws -> Double {
            let work = try await StatementMeter.measure(store, body)
            return Double(work.instructions) / Double(count)
        }
        let plain = try Store(inMemoryModels: Self.models)
        let inserted = try await cost(on: plain) {
            for first in stride(from: 0, to: count, by: 100) {
                try await plain.write { tx in
                    for number in first..<first + 100 {
                        try tx.insert(Card(shop: "Пятёрочка \(number)", barcode: "46\(number)", points: number))
                    }
                }
            }
        }
        let store = try Store(inMemoryModels: Self.models)
        let sync = SyncContext(store: store, remote: Counter(count: count))
        let pulled = try await cost(on: store) {
            let result = try await sync.pull(Card.self, queryID: "cards")
            #expect(result.inserted == count)
        }
        // The first full pull stores its date.
        try await sync.pull(Card.self)
        let changes = try store.totalChanges()
        let unchanged = try await cost(on: store) {
            let result = try await sync.pull(Card.self)
            #expect(result.unchanged == count)
        }
        #expect(try store.totalChanges() == changes)
        return Costs(inserted: inserted, pulled: pulled, unchanged: unchanged)
    }

    @Test func `a pulled object costs as much as an inserted one, and an unchanged one less`() async throws {
        let (few, many) = (try await costs(of: Self.count / 10), try await costs(of: Self.count))
        print("Instructions for an object among \(Self.count): \(many); among \(Self.count / 10): \(few)")
        for costs in [few, many] {
            #expect(costs.inserted > 0 && costs.pulled > 0 && costs.unchanged > 0)
            #expect(costs.pulled <= costs.inserted * 1.25, "\(costs)")
            #expect(costs.unchanged <= costs.inserted * 0.8, "\(costs)")
        }
        // A scan of the table for each object or page would cost ten times as much in the larger one.
        #expect(many.pulled <= few.pulled * 1.5 && many.unchanged <= few.unchanged * 1.5, "\(few), \(many)")
    }
}
