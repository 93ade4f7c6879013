import BigInt
import Foundation
import OpenCombine
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Canceling and releasing subscriptions, and work that must not block other work.
@Suite(.ownThreads) struct CancellingTests {
    @Test(arguments: StoreKind.allCases)
    func `a canceled subscription delivers nothing`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let recorder = store.cards.countPublisher.on(.immediate).record()
            let onQueue = store.cards.countPublisher.record()
            #expect(onQueue.waitForValues(1))
            recorder.cancel()
            onQueue.cancel()
            onQueue.cancel()
            try store.insert("А")
            usleep(50_000)
            #expect(recorder.values == [0] && onQueue.values == [0])
            #expect(recorder.completion == nil)
            #expect(store.live.present.count == 0)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.files)
    func `a subscription canceled on its queue delivers nothing on it`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let queue = DispatchQueue(label: "app")
            for round in 0..<40 {
                let late = Mutex(0)
                let isCancelled = Mutex(false)
                let recorder = store.cards.countPublisher.on(.queue(queue)).record { _ in
                    if isCancelled.withLock({ $0 }) { late.withLock { $0 += 1 } }
                }
                try store.insert("\(round)")
                queue.sync {
                    recorder.cancel()
                    isCancelled.withLock { $0 = true }
                }
                try store.insert("\(round)!")
                queue.sync {}
                #expect(late.withLock { $0 } == 0)
            }
            #expect(comesTrue { store.live.present.count == 0 })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delivery may cancel its own subscription and begin another`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let box = Mutex<[Recorder<Int>]>([])
            let seen = Mutex<[String]>([])
            @Sendable func subscribe(_ name: String, _ next: (@Sendable () -> Void)?) {
                let recorder = Recorder<Int> { count in
                    seen.withLock { $0.append("\(name) \(count)") }
                    guard count == 1, let next else { return }
                    box.withLock { $0.first }?.cancel()
                    next()
                }
                box.withLock { $0.append(recorder) }
                store.cards.countPublisher.on(.immediate).subscribe(recorder)
            }
            subscribe("first") { subscribe("second", nil) }
            try store.insert("А")
            try store.insert("Б")
            #expect(seen.withLock { $0 } == ["first 0", "first 1", "second 1", "second 2"])
            #expect(store.live.present.count == 1)
            for recorder in box.withLock({ $0 }) { recorder.cancel() }
            #expect(store.live.present.count == 0)
        }
    }

    /// An object that must be released with its subscription.
    private final class Witness: Sendable {}

    @Test(arguments: StoreKind.allCases)
    func `releasing a subscription frees everything`(_ kind: StoreKind) throws {
        weak var weakWitness: Witness?
        weak var weakStore: Store?
        weak var weakSubscription: LiveSubscription?
        try autoreleasing {
            let folder = try TemporaryFolder()
            let store =
                try kind.open(at: folder.path(of: "a.tandem"), [Card.self, Person.self, Badge.self])
            weakStore = store
            let witness = Witness()
            weakWitness = witness
            let first = DispatchSemaphore(value: 0)
            var cancellable: AnyCancellable? = store.cards.changesetPublisher.sink(receiveCompletion: { _ in }) { _ in
                _ = witness
                first.signal()
            }
            first.wait()
            try store.insert("А")
            first.wait()
            weakSubscription = store.live.present.first
            #expect(weakSubscription != nil && store.live.present.count == 1)
            withExtendedLifetime(cancellable) {}
            cancellable = nil
            #expect(store.live.present.count == 0)
        }
        #expect(comesTrue { weakWitness == nil && weakSubscription == nil && weakStore == nil })
    }

    private func autoreleasing(_ body: () throws -> Void) throws { try body() }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.files)
    func `a subscription that is canceled while it loads is forgotten`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            try store.write { tx in
                try tx.insert(
                    contentsOf: (0..<3_000).map { Card(shop: "\($0)", barcode: "\($0)", points: BigInt($0)) })
            }
            for round in 0..<60 {
                let recorder = store.cards.sorted(by: \.shop).changesetPublisher.record()
                usleep(UInt32(round * 100))
                recorder.cancel()
            }
            #expect(comesTrue { store.live.present.count == 0 })
            usleep(50_000)
            #expect(store.live.present.count == 0)
            #expect(try store.cards.count() == 3_000)
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.files)
    func `canceling interrupts the first reading of a large result`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            try store.write { tx in
                try tx.insert(contentsOf: (0..<3_000).map { Card(shop: "\($0 % 7)", barcode: "\($0)") })
            }
            // This part compares each card with each other card, which takes minutes.
            let recorder = try store.slowCards().record()
            #expect(comesTrue { store.live.present.count == 1 })
            usleep(20_000)
            recorder.cancel()
            // A loader is free again.
            for _ in 0..<2 {
                let next = store.cards.countPublisher.record()
                #expect(next.waitForValues(1, seconds: 10))
                next.cancel()
            }
            #expect(recorder.values.isEmpty && recorder.completion == nil)
        }
    }
}

extension Store {
    /// Returns a publisher that takes minutes to read.
    fileprivate func slowCards() throws -> LivePublisher<Int> {
        LivePublisher(store: self) { LiveComposition(parts: [SlowPart()]) { 0 } }
    }
}

/// A part that reads for minutes.
private final class SlowPart: LivePart {
    func watch(in schema: Schema) throws -> PartWatch { .requery([try schema.table(Card.self)]) }

    func load(_ snapshot: LiveSnapshot) throws {
        _ = try snapshot.connection.value(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT count(*) FROM n
            """)
    }

    func apply(_ changes: [PartChange], isQuiet: Bool) throws -> Bool { false }
    var isDirty: Bool { true }
    func applySilently(wasDirty: Bool) {}
    func resetBaseline() {}
}
