import Foundation
import OpenCombine
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A subscriber that records its values.
///
/// `@unchecked Sendable`: locks protect its state, and a subscription may be used from any thread.
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

/// `@unchecked Sendable`: the subscription is set before `subscribe` returns, and only read from then on.
private final class LeaverBox: @unchecked Sendable {
    var subscription: (any Subscription)?
    let isGone = Synchronized(false)
}

/// A subscriber that cancels its subscription when it is released.
private final class Leaver: Subscriber {
    typealias Input = Int
    typealias Failure = Never
    private let box: LeaverBox

    init(_ box: LeaverBox) { self.box = box }

    deinit {
        box.subscription?.cancel()
        box.isGone.change { $0 = true }
    }

    func receive(subscription: any Subscription) { box.subscription = subscription }
    func receive(_ input: Int) -> Subscribers.Demand { .none }
    func receive(completion: Subscribers.Completion<Never>) {}
}

/// The live values of sync as Combine publishers.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct PublisherTests {
    @Test func `the status is published`() async throws {
        let fixture = try SchedulerFixture()
        let recorder = Recorder<SyncStatus, any Error>(.unlimited)
        fixture.sync.statusPublisher.subscribe(recorder)
        #expect(await comesTrue { recorder.values.value == [SyncStatus()] })
        try await fixture.insert("1")
        #expect(await comesTrue { recorder.values.value.last?.pending == 1 })
        try await fixture.sync.push()
        #expect(await comesTrue { recorder.values.value.last.map { $0.pending == 0 && !$0.isSyncing } ?? false })
        fixture.store.close()
        #expect(await comesTrue { recorder.isFinished.value })
    }

    @Test func `an object's state is published`() async throws {
        let fixture = try SchedulerFixture()
        let card = try await fixture.insert("1")
        let recorder = Recorder<SyncState?, any Error>(.unlimited)
        fixture.sync.statePublisher(of: card).subscribe(recorder)
        #expect(await comesTrue { recorder.values.value == [.pending(.insert)] })
        try await fixture.sync.push()
        #expect(await comesTrue { recorder.values.value.last == .synced })
        recorder.cancel()
    }

    @Test func `a scheduler's state is published until the scheduler ends`() async throws {
        let recorder = Recorder<SyncScheduler.State, Never>(.unlimited)
        do {
            let fixture = try SchedulerFixture()
            fixture.scheduler.statePublisher.subscribe(recorder)
            #expect(await comesTrue { recorder.values.value == [.stopped] })
            await fixture.start()
            #expect(await comesTrue { recorder.values.value.last == .waiting(until: fixture.clock.now() + 900) })
        }
        #expect(await comesTrue { recorder.isFinished.value })
        #expect(recorder.values.value.last == .stopped)
    }

    @Test func `values without demand are held back and the newest is kept`() async throws {
        let hasSent = Synchronized(false)
        let (release, releaser) = AsyncStream<Void>.makeStream()
        let publisher = StreamPublisher<Int, Never>(source: { send in
            for number in 0...5 { send(number) }
            hasSent.change { $0 = true }
            for await _ in release { send(6) }
            return .finished
        })
        let recorder = Recorder<Int, Never>(.none)
        publisher.subscribe(recorder)
        #expect(await comesTrue { hasSent.value })
        #expect(recorder.values.value.isEmpty)
        recorder.request(.max(1))
        #expect(recorder.values.value == [5])
        recorder.request(.unlimited)
        #expect(recorder.values.value == [5])
        releaser.yield()
        #expect(await comesTrue { recorder.values.value == [5, 6] })
        releaser.finish()
        #expect(await comesTrue { recorder.isFinished.value })
    }

    @Test func `the end is delivered without demand`() async throws {
        let recorder = Recorder<Int, Never>(.none)
        StreamPublisher<Int, Never>(source: { _ in .finished }).subscribe(recorder)
        #expect(await comesTrue { recorder.isFinished.value })
    }

    @Test func `a subscriber released by a cancellation may cancel too`() async throws {
        let (source, box) = (LiveValue(0), LeaverBox())
        StreamPublisher { source.values() }.subscribe(Leaver(box))
        #expect(!box.isGone.value)
        box.subscription?.cancel()
        #expect(await comesTrue { box.isGone.value })
    }

    @Test func `demand returned with a value counts`() async throws {
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

    @Test func `a cancelled subscription delivers nothing and leaves nothing`() async throws {
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

    @Test func `a delivery may cancel`() async throws {
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

    @Test func `an error is delivered once`() async throws {
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
