import Foundation
import OpenCombine
import Tandem
import TandemTesting
import Testing

@testable import TandemSync

/// Writes down what it is told.
///
/// `@unchecked Sendable`: what it keeps is behind locks of its own, and a subscription may be used from any thread.
private final class Recorder<Input: Sendable, Failure: Error>: Subscriber, @unchecked Sendable {
    let values = Synchronized<[Input]>([])
    let isFinished = Synchronized(false)
    let hasFailed = Synchronized(false)
    private let initial: Subscribers.Demand
    private let returned: Subscribers.Demand
    private let onValue: @Sendable () -> Void
    private var subscription: (any Subscription)?

    init(
        _ initial: Subscribers.Demand, returning returned: Subscribers.Demand = .none,
        onValue: @escaping @Sendable () -> Void = {}
    ) {
        self.initial = initial
        self.returned = returned
        self.onValue = onValue
    }

    func receive(subscription: any Subscription) {
        self.subscription = subscription
        if initial > .none { subscription.request(initial) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        values.change { $0.append(input) }
        onValue()
        return returned
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        if case .failure = completion { hasFailed.change { $0 = true } } else { isFinished.change { $0 = true } }
    }

    func request(_ demand: Subscribers.Demand) { subscription?.request(demand) }
    func cancel() { subscription?.cancel() }
}

/// What is live in sync, in Combine's way.
@Suite(.timeLimit(.minutes(5))) struct PublisherTests {
    @Test func theStatusIsPublished() async throws {
        let desk = try ScheduleDesk()
        let recorder = Recorder<SyncStatus, any Error>(.unlimited)
        desk.sync.statusPublisher.subscribe(recorder)
        #expect(await comesTrue { recorder.values.value == [SyncStatus()] })
        try await desk.insert("1")
        #expect(await comesTrue { recorder.values.value.last?.pending == 1 })
        try await desk.sync.push()
        #expect(await comesTrue { recorder.values.value.last.map { $0.pending == 0 && !$0.isSyncing } ?? false })
        desk.store.close()
        #expect(await comesTrue { recorder.isFinished.value })
    }

    @Test func anObjectsStateIsPublished() async throws {
        let desk = try ScheduleDesk()
        let card = try await desk.insert("1")
        let recorder = Recorder<SyncState?, any Error>(.unlimited)
        desk.sync.statePublisher(of: card).subscribe(recorder)
        #expect(await comesTrue { recorder.values.value == [.pending(.insert)] })
        try await desk.sync.push()
        #expect(await comesTrue { recorder.values.value.last == .synced })
        recorder.cancel()
    }

    @Test func aSchedulersStateIsPublishedAndEndsWithIt() async throws {
        let recorder = Recorder<SyncScheduler.State, Never>(.unlimited)
        do {
            let desk = try ScheduleDesk()
            desk.scheduler.statePublisher.subscribe(recorder)
            #expect(await comesTrue { recorder.values.value == [.stopped] })
            await desk.start()
            #expect(await comesTrue { recorder.values.value.last == .waiting(until: desk.clock.now() + 900) })
        }
        #expect(await comesTrue { recorder.isFinished.value })
        #expect(recorder.values.value.last == .stopped)
    }

    @Test func whatNobodyHasAskedForIsHeldBackAndTheNewestIsKept() async throws {
        let source = LiveValue(0)
        let publisher = StreamPublisher { source.values(keeping: 100) }
        let recorder = Recorder<Int, Never>(.none)
        publisher.subscribe(recorder)
        #expect(await comesTrue { source.followerCount == 1 })
        for number in 1...5 { source.set(number) }
        #expect(recorder.values.value.isEmpty)
        recorder.request(.max(1))
        #expect(await comesTrue { recorder.values.value.count == 1 })
        // All of them have come by now, or will: one demand, one value.
        source.set(6)
        recorder.request(.max(1))
        #expect(await comesTrue { recorder.values.value.last == 6 || recorder.values.value.count == 2 })
        recorder.request(.unlimited)
        #expect(await comesTrue { recorder.values.value.last == 6 })
        let values = recorder.values.value
        #expect(values == values.sorted() && Set(values).count == values.count)
        // The end is told to who asks for nothing too.
        source.finish()
        #expect(await comesTrue { recorder.isFinished.value })
        #expect(source.followerCount == 0)
    }

    @Test func demandThatComesWithAValueCounts() async throws {
        let source = LiveValue(0)
        let recorder = Recorder<Int, Never>(.max(1), returning: .max(1))
        StreamPublisher { source.values(keeping: 100) }.subscribe(recorder)
        for number in 1...20 {
            #expect(await comesTrue { recorder.values.value.last == number - 1 })
            source.set(number)
        }
        #expect(await comesTrue { recorder.values.value == Array(0...20) })
        recorder.cancel()
    }

    @Test func afterACancelNothingIsToldAndNothingIsLeft() async throws {
        final class Witness: Sendable {}
        let source = LiveValue(0)
        weak var witness: Witness?
        var cancellable: AnyCancellable?
        do {
            let held = Witness()
            witness = held
            let count = Counter()
            cancellable = StreamPublisher { source.values() }.sink { _ in
                _ = held
                _ = count.next()
            }
            #expect(await comesTrue { count.value == 1 })
        }
        #expect(witness != nil && source.followerCount == 1)
        withExtendedLifetime(cancellable) {}
        cancellable = nil
        #expect(await comesTrue { source.followerCount == 0 })
        source.set(1)
        for _ in 0..<20_000 where witness != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(witness == nil)
    }

    @Test func aDeliveryMayCancel() async throws {
        let source = LiveValue(0)
        let box = Synchronized<Recorder<Int, Never>?>(nil)
        let recorder = Recorder<Int, Never>(.unlimited) { box.value?.cancel() }
        box.change { $0 = recorder }
        StreamPublisher { source.values() }.subscribe(recorder)
        #expect(await comesTrue { source.followerCount == 0 && recorder.values.value.count == 1 })
        source.set(1)
        source.finish()
        #expect(recorder.values.value == [0] && !recorder.isFinished.value)
        box.change { $0 = nil }
    }

    @Test func anErrorIsToldOnce() async throws {
        struct Failure: Error {}
        let publisher = StreamPublisher<Int, any Error> {
            AsyncThrowingStream { continuation in
                continuation.yield(1)
                continuation.finish(throwing: Failure())
            }
        }
        let recorder = Recorder<Int, any Error>(.none)
        publisher.subscribe(recorder)
        recorder.request(.max(2))
        #expect(await comesTrue { recorder.hasFailed.value })
        #expect(recorder.values.value == [1] && !recorder.isFinished.value)
    }
}
