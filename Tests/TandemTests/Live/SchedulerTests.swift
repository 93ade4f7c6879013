import BigInt
import Foundation
import OpenCombine
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// The place and time of deliveries.
@Suite(.ownThreads) struct SchedulerTests {
    @Test(arguments: StoreKind.allCases)
    func `the immediate scheduler delivers on the caller's thread before the write returns`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let recorder = store.cards.countPublisher.on(.immediate).record()
            #expect(recorder.values == [0])
            try store.insert("А")
            #expect(recorder.values == [0, 1])
            #expect(recorder.wasDeliveredHere)
            recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delivery may write, and that write is delivered next`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let seen = Mutex<[Int]>([])
            let subscription = store.cards.countPublisher.on(.immediate).sink(receiveCompletion: { _ in }) { count in
                // The writer is free.
                if count > 0, count < 4 { _ = try? store.insert("\(count)") }
                seen.withLock { $0.append(count) }
            }
            try store.insert("first")
            #expect(seen.withLock { $0 } == [0, 1, 2, 3, 4])
            subscription.cancel()
        }
    }

    @Test(arguments: StoreKind.files)
    func `an app's queue and the subscription's own queue deliver in order`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let key = DispatchSpecificKey<Bool>()
            let queue = DispatchQueue(label: "app")
            queue.setSpecific(key: key, value: true)
            let strays = Mutex(0)
            let onQueue = store.cards.countPublisher.on(.queue(queue)).record { _ in
                if DispatchQueue.getSpecific(key: key) != true { strays.withLock { $0 += 1 } }
            }
            let onConcurrent = store.cards.countPublisher.on(.queue(.global())).record { _ in usleep(1_000) }
            let onOwn = store.cards.countPublisher.record()
            for index in 0..<30 { try store.insert("\(index)") }
            for recorder in [onQueue, onConcurrent, onOwn] {
                #expect(recorder.waitForValue { $0 == 30 })
                #expect(recorder.values == recorder.values.sorted())
                #expect(recorder.wasDeliveredElsewhere)
                recorder.cancel()
            }
            #expect(strays.withLock { $0 } == 0)
        }
    }

    @Test(.timeLimit(.minutes(10))) @MainActor func `the main queue delivers on the main actor`() async throws {
        let store = try Store.inMemory(models: Card.self, Person.self, Badge.self)
        defer { store.close() }
        let (ticks, tick) = AsyncStream<Int>.makeStream()
        let subscription = store.cards.countPublisher.on(.main).sink(receiveCompletion: { _ in }) { @Sendable count in
            MainActor.assumeIsolated { _ = tick.yield(count) }
        }
        var iterator = ticks.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first == 0)
        try await store.write { _ = try $0.insert(Card(shop: "А", barcode: "1")) }
        let second = await iterator.next()
        #expect(second == 1)
        subscription.cancel()
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
    func `change sets arrive in order with writers on many threads`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let query = store.cards.sorted(by: \.points)
            let recorders = [
                query.changesetPublisher.on(.immediate).record(), query.changesetPublisher.record(),
                query.changesetPublisher.on(.queue(.global())).record(),
            ]
            DispatchQueue.concurrentPerform(iterations: 4) { writer in
                var mine: [Card] = []
                for index in 0..<40 {
                    if index % 4 == 3 {
                        let card = mine.removeFirst()
                        _ = try? store.write { try $0.delete(card) }
                    } else if let card = try? store.insert("\(writer)-\(index)", BigInt((index * 7 + writer) % 11)) {
                        mine.append(card)
                    }
                }
            }
            let wanted = try query.all()
            for recorder in recorders {
                #expect(recorder.waitForValue { Array($0.results) == wanted })
                var list: [Card] = []
                for change in recorder.values {
                    #expect(Array(change.previous) == list)
                    change.apply(to: &list)
                }
                #expect(list == wanted)
                recorder.cancel()
            }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
    func `each of two threads finds its own change delivered when its write returns`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let shops = Mutex<Set<String>>([])
            let late = Mutex(0)
            let subscription = store.cards.changesetPublisher.on(.immediate).sink(receiveCompletion: { _ in }) {
                change in
                shops.withLock { $0.formUnion(change.insertions.map { change.results[$0].shop }) }
            }
            DispatchQueue.concurrentPerform(iterations: 2) { writer in
                for index in 0..<100 {
                    let shop = "\(writer)-\(index)"
                    _ = try? store.insert(shop)
                    if !shops.withLock({ $0.contains(shop) }) { late.withLock { $0 += 1 } }
                }
            }
            #expect(late.withLock { $0 } == 0)
            #expect(shops.withLock { $0.count } == 200)
            subscription.cancel()
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
    func `a subscription inside a write block gets the committed state`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            var recorders: [Recorder<Int>] = []
            try store.write { tx in
                try tx.insert(Card(shop: "А", barcode: "1"))
                recorders.append(store.cards.countPublisher.on(.immediate).record())
                recorders.append(store.cards.countPublisher.record())
                try tx.insert(Card(shop: "Б", barcode: "2"))
            }
            for recorder in recorders {
                #expect(recorder.waitForValue { $0 == 2 })
                // Uncommitted states are never delivered.
                #expect(Set(recorder.values).isSubset(of: [0, 2]))
                recorder.cancel()
            }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.allCases)
    func `requesting more inside a write block does not wait`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let isDelivering = DispatchSemaphore(value: 0)
            let isWriting = DispatchSemaphore(value: 0)
            let recorder = store.cards.countPublisher.on(.immediate).record(.max(2)) { count in
                guard count == 1 else { return }
                isDelivering.signal()
                isWriting.wait()
                // This write waits for the end of the other thread's write.
                _ = try? store.insert("from the delivery")
            }
            DispatchQueue(label: "other").async { _ = try? store.insert("А") }
            isDelivering.wait()
            let isOver = ends {
                try? store.write { tx in
                    isWriting.signal()
                    usleep(50_000)
                    recorder.request(.unlimited)
                    try tx.insert(Card(shop: "Б", barcode: "2"))
                }
            }
            #expect(isOver)
            #expect(recorder.waitForValue { $0 == 3 })
            recorder.cancel()
        }
    }
}
