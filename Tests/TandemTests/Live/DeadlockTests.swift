import Foundation
import OpenCombine
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Deliveries that write, close and cancel, without deadlocks.
@Suite(.ownThreads) struct DeadlockTests {
    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
    func `deliveries on two threads that write to each other's query finish`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let cards = store.cards.countPublisher.on(.immediate).record { count in
                if count % 2 == 1 { _ = try? store.write { try $0.insert(Person(name: "p\(count)")) } }
            }
            let people = store.objects(Person.self).countPublisher.on(.immediate).record { count in
                if count % 3 == 1 { _ = try? store.insert("c\(count)") }
            }
            let isOver = ends {
                DispatchQueue.concurrentPerform(iterations: 2) { side in
                    for index in 0..<60 {
                        if side == 0 {
                            _ = try? store.insert("\(index)")
                        } else {
                            _ = try? store.write { try $0.insert(Person(name: "\(index)")) }
                        }
                    }
                }
            }
            #expect(isOver)
            let cardCount = try store.cards.count()
            let personCount = try store.objects(Person.self).count()
            #expect(cards.waitForValue { $0 == cardCount } && people.waitForValue { $0 == personCount })
            #expect(cards.values == cards.values.sorted() && people.values == people.values.sorted())
            cards.cancel()
            people.cancel()
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
    func `a delivery may close the store`(_ kind: StoreKind) throws {
        for isImmediate in [true, false] {
            try kind.withStore(Card.self, Person.self, Badge.self) { store in
                let publisher = store.cards.countPublisher.on(isImmediate ? .immediate : .background)
                let recorder = publisher.record { count in
                    if count == 1 { store.close() }
                }
                #expect(recorder.waitForValues(1))
                let isOver = ends { _ = try? store.insert("А") }
                #expect(isOver)
                #expect(recorder.waitForEnd())
                #expect(recorder.isFinished && recorder.values == [0, 1])
            }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
    func `a store may be closed while it delivers and writes`(_ kind: StoreKind) throws {
        for round in 0..<10 {
            try kind.withStore(Card.self, Person.self, Badge.self) { store in
                let recorders = [LiveScheduler.immediate, .background, .queue(.global())].map { scheduler in
                    store.cards.changesetPublisher.on(scheduler).record { _ in usleep(300) }
                }
                let isOver = ends {
                    DispatchQueue.concurrentPerform(iterations: 3) { thread in
                        if thread == 0 {
                            usleep(UInt32(round * 700))
                            store.close()
                        } else {
                            for index in 0..<30 { _ = try? store.insert("\(thread)-\(index)") }
                        }
                    }
                }
                #expect(isOver)
                for recorder in recorders {
                    #expect(recorder.waitForEnd())
                    #expect(recorder.isFinished, "\(String(describing: recorder.error))")
                }
                #expect(store.live.present.count == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
    func `subscribing and canceling on many threads during writes finishes`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let isOver = ends {
                DispatchQueue.concurrentPerform(iterations: 4) { thread in
                    for index in 0..<40 {
                        if thread == 0 {
                            _ = try? store.insert("\(index)")
                        } else {
                            let recorder = store.cards.sorted(by: \.shop).changesetPublisher
                                .on(index % 2 == 0 ? .immediate : .background).record()
                            if index % 3 == 0 { _ = recorder.waitForValues(1) }
                            recorder.cancel()
                        }
                    }
                }
            }
            #expect(isOver)
            #expect(comesTrue { store.live.present.count == 0 })
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
    func `canceling a task ends its loop and releases the query`(_ kind: StoreKind) async throws {
        try await kind.withStore(Card.self, Person.self, Badge.self) { (store: Store) async throws -> Void in
            let (firsts, first) = AsyncStream<Int>.makeStream()
            let task = Task {
                var seen: [Int] = []
                for try await count in store.cards.countPublisher.values {
                    seen.append(count)
                    first.yield(count)
                }
                return seen
            }
            for await _ in firsts { break }
            task.cancel()
            #expect(try await task.value == [0])
            #expect(store.live.present.count == 0)
            // A loop that ends with `break` releases the query too.
            for try await _ in store.cards.countPublisher.values { break }
            #expect(store.live.present.count == 0)
        }
    }
}
