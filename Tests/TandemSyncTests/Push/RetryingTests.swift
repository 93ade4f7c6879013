import Foundation
import Tandem
import TestSupport
import Testing

@testable import TandemSync

/// The operations that wait for a retry, as the user sees them.
@Suite(.ownThreads) struct RetryingTests {
    private let error = OperationError(status: 503, message: "not now", at: Date(timeIntervalSince1970: 0))

    /// Between two attempts of one push nothing is being sent.
    @Test func `an operation between two attempts is not being sent`() async throws {
        let (store, context) = try SyncWorld().device()
        let card = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        let id = try #require(try store.operations.operation(of: card)).id
        let error = error
        context.statusTracker.setActivity(.pushing(done: 0, total: 1))
        try await store.write { tx in
            let attempt = try tx.beginAttempt(id).attempts
            _ = try tx.sync.markOutcomeUnknown(id, attempt: attempt, error: error, retryAt: nil)
        }
        #expect(try await context.state(of: card) == .retrying(.insert, error: error))
        try await store.write { _ = try $0.beginAttempt(id) }
        #expect(try await context.state(of: card) == .sending(.insert))
        try await store.write { try $0.fail(id, with: error, retry: true) }
        #expect(try await context.state(of: card) == .retrying(.insert, error: error))
        #expect(SyncState.retrying(.insert, error: error).kind == .insert)
    }

    /// It can't succeed before the other one has.
    @Test func `an operation that waits for another reports that first`() async throws {
        let (store, context) = try SyncWorld().device()
        let (person, card) = try await store.write { tx in
            let person = try tx.insert(Person(name: "Ада"))
            return (person, try tx.insert(Card(shop: "Лента", barcode: "1", owner: person.reference)))
        }
        let error = error
        try await store.write { tx in
            try tx.fail(try #require(try tx.operations.operation(of: card)).id, with: error, retry: true)
            try tx.fail(try #require(try tx.operations.operation(of: person)).id, with: error, retry: false)
        }
        #expect(try await context.state(of: card) == .waiting(.insert, for: person.localID, model: "Person"))
    }

    @Test func `the count of retried operations is live`() async throws {
        let (store, context) = try SyncWorld().device()
        var statuses = context.statuses.makeAsyncIterator()
        var expected = SyncStatus()
        #expect(try await statuses.next() == expected)
        let ids = try await store.write { tx in
            for code in 1...3 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
            return try tx.operations.all().map(\.id)
        }
        expected.pending = 3
        #expect(try await statuses.next() == expected)
        let error = error
        try await store.write { tx in
            for id in ids.prefix(2) { try tx.fail(id, with: error, retry: true) }
            try tx.fail(ids[2], with: error, retry: false)
        }
        (expected.pending, expected.retrying, expected.failed) = (2, 2, 1)
        #expect(try await statuses.next() == expected)
        try await context.hold(ids[0])
        (expected.pending, expected.retrying, expected.held) = (1, 1, 1)
        #expect(try await statuses.next() == expected)
    }
}
