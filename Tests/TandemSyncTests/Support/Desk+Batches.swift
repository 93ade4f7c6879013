import Foundation
import Tandem
import TandemTesting

@testable import TandemSync

extension SyncFixture {
    /// Inserts cards with the bar codes `0`, `1` and so on.
    ///
    /// - Returns: The local IDs, in the order of the queue.
    @discardableResult
    func insertCards(_ count: Int) async throws -> [LocalID] {
        try await store.write { tx in
            try (0..<count).map { try tx.insert(Card(shop: "Лента", barcode: "\($0)")).localID }
        }
    }

    /// The sizes of the batches, in order of arrival.
    var batchSizes: [Int] { remote.batches.map(\.count) }

    /// The number of exchanges: a batch counts as one.
    var exchanges: Int { remote.batches.count + remote.requests.filter { $0.batch == nil }.count }

    /// The bar codes on the server, sorted.
    var arrived: [String] {
        remote.items(in: "Card").compactMap { item in
            if case .text(let code)? = item[member: "barcode"] { code } else { nil }
        }.sorted()
    }

    /// Creates a context on the same store with another remote.
    func context(
        with remote: any Remote, store local: (any LocalStore)? = nil,
        _ options: (inout SyncContext.Options) -> Void = { _ in }
    ) -> SyncContext {
        var all = SyncContext.Options()
        all.clock = JumpingClock(clock)
        all.random = { 0 }
        options(&all)
        return SyncContext(localStore: local ?? TandemStore(store), remote: remote, options: all)
    }
}

extension RequestMatch {
    /// Selects writes of a card with a bar code.
    static func barcode(_ code: String) -> RequestMatch {
        RequestMatch { request in request.members.contains { $0.key == "barcode" && $0.value == .text(code) } }
    }
}
