import Foundation
import Tandem
import TandemSync
import TestSupport
import Testing

/// What a pull costs beside the server and the wire. It is printed, not judged: the machine may have other things to do,
/// and a debug build takes ten times as long. `make bench` measures it.
@Suite(.ownThreads) struct PullSpeedTests {
    private static let count = isSoak ? 100_000 : 3_000

    /// A server that costs nothing: its pages are made as they are asked for, out of a number each.
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
        func find(_ table: RemoteTableName, _ key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? { throw no }
        func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer { throw no }
        func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer { throw no }
        func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer { throw no }
        func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer { throw no }
    }

    @Test func whatAPulledObjectCosts() async throws {
        let count = Self.count
        let clock = ContinuousClock()
        func time(_ body: () async throws -> Void) async throws -> String {
            let duration = try await clock.measure(body)
            let (seconds, attoseconds) = duration.components
            let micros = (Double(seconds) * 1e6 + Double(attoseconds) / 1e12) / Double(count)
            return "\((micros * 10).rounded() / 10) µs"
        }
        let models: [any Model.Type] = [Person.self, Card.self, Pet.self]
        let store = try Store(inMemoryModels: models)
        let sync = SyncContext(store: store, remote: Counter(count: count))
        let pull = try await time { try await sync.pull(Card.self, queryID: "cards") }
        let again = try await time { try await sync.pull(Card.self) }
        #expect(try await store.objects(Card.self).count() == count)
        let plain = try Store(inMemoryModels: models)
        let insert = try await time {
            for first in stride(from: 0, to: count, by: 100) {
                try await plain.write { tx in
                    for number in first..<first + 100 {
                        try tx.insert(Card(shop: "Пятёрочка \(number)", barcode: "46\(number)", points: number))
                    }
                }
            }
        }
        print("An object pulled: \(pull); found unchanged by a full pull: \(again); inserted by the app: \(insert).")
    }
}
