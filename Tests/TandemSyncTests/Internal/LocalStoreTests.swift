import Tandem
import TandemSync
import TestSupport
import Testing

@Suite(.ownThreads) struct LocalStoreTests {
    @Test func `the queue is read in its order`() async throws {
        let (store, _) = try SyncWorld().device()
        let ids = try await store.write { tx in
            try (0..<5).map { try tx.insert(Card(shop: "Лента", barcode: "\($0)")).localID }
        }
        let (first, rest) = try await TandemStore(store).read { local in
            let first = try local.operations(after: nil, limit: 2)
            return (first, try local.operations(after: first.last?.id, limit: 9))
        }
        #expect((first + rest).map(\.localID) == ids && first.count == 2)
        #expect(try await TandemStore(store).read { local in try local.countOfOperations(in: "Card") } == 5)
        #expect(try await TandemStore(store).read { local in try local.countOfOperations(in: "Person") } == 0)
    }
}
