import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

@Suite(.ownThreads) struct TransactionSlotTests {
    private struct Failure: Error {}

    private final class Counter: TransactionSlot {
        var count = 0
        var rollbacks = 0

        func didRollBackToSavepoint() { rollbacks += 1 }
    }

    private final class Other: TransactionSlot {}

    @Test func `transaction has one slot of each type, and the next transaction another`() throws {
        let store = try Store.inMemory(models: PeerPerson.self)
        let first = try store.write { tx in
            tx.slot(Counter.self).count = 1
            _ = tx.slot(Other.self)
            try store.write { inner in inner.slot(Counter.self).count += 1 }
            #expect(tx.slot(Counter.self).count == 2)
            #expect(tx.slot(Other.self) === tx.slot(Other.self))
            return tx.slot(Counter.self)
        }
        try store.write { tx in
            #expect(tx.slot(Counter.self) !== first)
            #expect(tx.slot(Counter.self).count == 0)
        }
    }

    @Test func `slot is notified of changes that a savepoint undoes`() throws {
        let store = try Store.inMemory(models: PeerPerson.self)
        try store.write { tx in
            let counter = tx.slot(Counter.self)
            try store.write { inner in try inner.insert(PeerPerson(name: "Ада")) }
            #expect(counter.rollbacks == 0)
            #expect(throws: Failure.self) {
                try store.write { inner in
                    try inner.insert(PeerPerson(name: "Боб"))
                    throw Failure()
                }
            }
            #expect(counter.rollbacks == 1)
        }
        #expect(try store.objects(PeerPerson.self).count() == 1)
    }
}
