import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemSync

/// The cost of a change of an attachment does not grow with the number of attachments. The tests count SQLite's
/// instructions.
@Suite(.ownThreads) struct AttachmentCostTests {
    enum Act: String, CaseIterable { case attaching, replacing, deleting }

    private static let changes = 20

    private func makeStore() throws -> Store {
        var configuration = Store.Configuration()
        configuration.files.flushes = false
        return try Store(inMemoryModels: [Receipt.self, Passport.self], configuration: configuration)
    }

    /// Adds receipts with a photograph each.
    private func attach(_ count: Int, to store: Store) async throws -> [LocalID] {
        let photos = try (0..<count).map { try store.attachments.add(Data("\($0)".utf8), name: "чек.jpg") }
        return try await store.write { tx in
            try photos.map { try tx.insert(Receipt(shop: "Лента", photo: $0)).localID }
        }
    }

    private func perform(_ act: Act, on receipts: ArraySlice<LocalID>, in store: Store) async throws {
        let ids = Array(receipts)
        switch act {
        case .attaching: _ = try await attach(ids.count, to: store)
        case .replacing:
            let photos = try ids.map { try store.attachments.add(Data("new \($0)".utf8), name: "чек.jpg") }
            try await store.write { tx in
                for (id, photo) in zip(ids, photos) {
                    _ = try tx.update(Receipt.self, localID: id) { $0.photo = photo }
                }
            }
        case .deleting:
            try await store.write { tx in
                for id in ids { _ = try tx.delete(Receipt.self, localID: id) }
            }
        }
    }

    @Test func `a change of an attachment among many attachments costs the same`() async throws {
        var costs: [Act: [Int]] = [:]
        for count in [100, isSoak ? 10_000 : 1_000] {
            let store = try makeStore()
            defer { store.close() }
            let receipts = try await attach(count, to: store)
            for act in Act.allCases {
                // Receipts from the middle, each once.
                let middle = receipts.dropFirst(count / 2).prefix(Self.changes)
                let work = try await StatementMeter.measure(store) { try await perform(act, on: middle, in: store) }
                costs[act, default: []].append(work.instructions)
            }
            #expect(try store.checkIntegrity() == [])
        }
        for (act, cost) in costs {
            #expect(cost[0] > 0 && cost[1] * 2 <= cost[0] * 3, "\(act): \(cost)")
        }
    }
}
