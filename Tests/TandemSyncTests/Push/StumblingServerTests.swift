import Foundation
import LocalStoreSupport
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A server that fails for some objects each time, and one that is unavailable. Neither blocks operations that can be
/// sent, and an unavailable one does not get all requests.
@Suite(.ownThreads) struct StumblingServerTests {
    /// A server that fails for some items.
    private final class Stumbling: ForwardingRemote {
        private let server: ScriptedRemote
        private let fails = Mutex<@Sendable (String) -> Bool>({ _ in false })

        init(_ server: ScriptedRemote) { self.server = server }

        var base: any Remote { server }
        func stumble(over fails: @escaping @Sendable (String) -> Bool) { self.fails.withLock { $0 = fails } }

        func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
            if fails.withLock({ $0 })(item.id?.rawValue ?? "") {
                server.next(.fail(.later(status: 500, retryAfter: nil)), on: .id(item.id?.rawValue ?? ""))
            }
            return try await server.insert(item)
        }
    }

    private struct Bench {
        let fixture: SyncFixture
        let remote: Stumbling
        let sync: SyncContext
        let ids: [String]

        init(cards: Int, inFlight: Int) async throws {
            fixture = try SyncFixture()
            remote = Stumbling(fixture.remote)
            let random = Mutex(SeededGenerator(seed: 7))
            var options = SyncContext.Options()
            options.clock = JumpingClock(fixture.clock)
            options.random = { random.withLock { $0.next() } }
            options.inFlight = inFlight
            sync = SyncContext(store: fixture.store, remote: remote, options: options)
            ids = try await fixture.store.write { tx in
                try (0..<cards).map { try tx.insert(Card(shop: "Лента", barcode: "\($0)")).localID.rawValue }
            }
        }

        var arrived: Set<String> { Set(fixture.remote.items(in: "Card").map(\.id.rawValue)) }
        /// Returns the requested items since the last call, each once.
        func takeAsked() -> [String] {
            defer { fixture.remote.forgetRequests() }
            var seen: Set<String> = []
            return fixture.remote.requests.compactMap(\.id).filter { seen.insert($0).inserted }
        }
    }

    /// FB 3, 9: a unique or a foreign key is a 500 for some servers, and an import can have many such objects.
    @Test(arguments: [1, 8])
    func `operations that always fail block nothing`(inFlight: Int) async throws {
        let bench = try await Bench(cards: 48, inFlight: inFlight)
        let poisoned = Set(bench.ids.prefix(8))
        bench.remote.stumble { poisoned.contains($0) }
        let first = try await bench.sync.attemptPush()
        // With concurrent successes, five failures in a row may not occur.
        if inFlight == 1 { #expect(first.stoppedBy?.code == .later) }
        _ = bench.takeAsked()
        let second = try await bench.sync.attemptPush()
        #expect(bench.arrived == Set(bench.ids.dropFirst(8)))
        // The server works, and some objects are invalid.
        if inFlight == 1 { #expect(second.stoppedBy == nil && !second.isComplete) }
        let listed = second.entries.map(\.localID.rawValue)
        #expect(listed == bench.ids.filter(listed.contains))
        let asked = bench.takeAsked()
        if inFlight == 1 { #expect(asked == bench.ids) }
        #expect(try bench.fixture.store.operations.count() == 8)
    }

    @Test(arguments: [1, 8])
    func `an unavailable server gets few requests each time`(inFlight: Int) async throws {
        let bench = try await Bench(cards: 100, inFlight: inFlight)
        bench.remote.stumble { _ in true }
        for _ in 1...12 {
            #expect(try await bench.sync.attemptPush().stoppedBy?.code == .later)
            // Five new ones, five that failed before, and those under way meanwhile.
            #expect(bench.takeAsked().count <= 10 + 2 * (inFlight - 1))
        }
        // Once it is available, all are sent, in their order if that matters.
        bench.remote.stumble { _ in false }
        #expect(try await bench.sync.push().isComplete)
        #expect(bench.arrived.count == 100)
        if inFlight == 1 { #expect(bench.takeAsked() == bench.ids) }
    }

    /// All have failed before, and most of those at the head always will.
    @Test(arguments: [1, 8])
    func `each operation has its turn`(inFlight: Int) async throws {
        let bench = try await Bench(cards: 40, inFlight: inFlight)
        bench.remote.stumble { _ in true }
        for _ in 1...12 { try await bench.sync.attemptPush() }
        #expect(try bench.fixture.store.operations.all().allSatisfy { $0.error?.status == 500 })
        let poisoned = Set(bench.ids.prefix(12))
        bench.remote.stumble { poisoned.contains($0) }
        for _ in 1...40 where bench.arrived.count < 28 { try await bench.sync.attemptPush() }
        #expect(bench.arrived == Set(bench.ids.dropFirst(12)))
    }

    /// - Parameter tried: The second at which each operation failed, by its ID; `nil` for one that was not tried.
    private static func queue(tried: [Double?]) -> PushQueue {
        var queue = PushQueue()
        for (index, second) in tried.enumerated() {
            let error = second.map { OperationError(message: "no", at: Date(timeIntervalSince1970: $0)) }
            queue.append(
                PendingOperation(
                    id: Int64(index + 1), model: "Card", table: "Card", localID: LocalID("\(index)"), kind: .insert,
                    state: .pending, changedAt: Date(timeIntervalSince1970: 0), error: error))
        }
        return queue
    }

    @Test func `operations that failed before go last, the one tried longest ago first`() {
        var queue = Self.queue(tried: [30, nil, 10, 20, nil])
        queue.arrange(keepingOrder: false, upTo: 2)
        #expect(queue.inOrder.filter(\.isSpare).map(\.id) == [1])
        var line: [PendingOperation.ID] = []
        while let id = queue.next {
            line.append(id)
            queue.dequeue()
        }
        #expect(line == [2, 5, 3, 4, 1])
    }

    @Test func `operations that failed before keep the queue's order with one request in flight`() {
        var queue = Self.queue(tried: [30, 20, 10])
        queue.arrange(keepingOrder: true, upTo: 2)
        #expect(queue.next == 1 && queue.inOrder.filter(\.isSpare).map(\.id) == [2])
    }

    @Test func `an operation that another one waits for is not passed over`() {
        var state = PushState()
        state.queue = Self.queue(tried: [10, 20, 30])
        state.queue.arrange(keepingOrder: false, upTo: 1)
        let first = state.dequeue(isIdle: true)
        state.queue.park(1, behind: 3)
        let second = state.dequeue(isIdle: true)
        let third = state.dequeue(isIdle: true)
        #expect(first?.id == 1 && first?.failure == nil)
        #expect(second?.id == 2 && second?.failure != nil)
        #expect(third?.id == 3 && third?.failure == nil)
    }

    /// A refusal is a response, so the server is reachable.
    @Test func `a server that refuses an operation does not end the push`() async throws {
        let bench = try await Bench(cards: 5, inFlight: 1)
        bench.remote.stumble { _ in true }
        #expect(try await bench.sync.attemptPush().stoppedBy?.code == .later)
        let poisoned = Set(bench.ids)
        bench.remote.stumble { poisoned.contains($0) }
        let id = try await bench.fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "new")) }.localID
        bench.fixture.remote.next(.fail(.refused(status: 400, message: "No.")), on: .id(id.rawValue))
        let result = try await bench.sync.attemptPush()
        #expect(result.stoppedBy == nil && result.failedOperations.map(\.operation.localID) == [id])
    }

    /// An object whose request crashes the server ends each push. It goes behind those tried longer ago.
    @Test func `an operation whose request is always lost is sent last`() async throws {
        let bench = try await Bench(cards: 1, inFlight: 2)
        bench.remote.stumble { _ in true }
        try await bench.sync.attemptPush()
        bench.remote.stumble { _ in false }
        let ids = try await bench.fixture.store.write { tx in
            try (1...2).map { try tx.insert(Card(shop: "Лента", barcode: "deadly \($0)")).localID.rawValue }
        }
        for _ in 1...2 {
            for id in ids { bench.fixture.remote.next(.loseRequest, on: .id(id)) }
            #expect(try await bench.sync.attemptPush().stoppedBy?.code == .unreachable)
        }
        #expect(bench.arrived == Set(bench.ids))
    }

    /// An operation that waits for one left to the next push reports the reason.
    @Test func `a skipped operation reports its earlier failure`() async throws {
        let bench = try await Bench(cards: 10, inFlight: 1)
        bench.remote.stumble { _ in true }
        for _ in 1...2 { try await bench.sync.attemptPush() }
        _ = bench.takeAsked()
        let result = try await bench.sync.attemptPush()
        let asked = Set(bench.takeAsked())
        #expect(asked.count == 5 && asked.contains(bench.ids[0]))
        for entry in result.entries {
            #expect(entry.outcome.name == "retryLater" && entry.outcome.error?.status == 500)
            let isPassedOver = entry.outcome.error?.message.contains("earlier push") ?? false
            #expect(isPassedOver != asked.contains(entry.localID.rawValue))
        }
    }

    /// Between pushes there is no wait: the caller decides.
    @Test func `each push tries again`() async throws {
        let bench = try await Bench(cards: 1, inFlight: 8)
        bench.remote.stumble { _ in true }
        for count in 1...3 {
            try await bench.sync.attemptPush()
            #expect(bench.fixture.asked.count == 3 * count)
            #expect(try bench.fixture.operation?.retryAt == nil)
        }
    }

    /// A sign-in page that responds with success replaces the server. It does not get all requests.
    @Test func `a sign-in page does not get a request for each object`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        for _ in 0..<300 { fixture.remote.next(.fail(.nonsense)) }
        try await fixture.store.write { tx in
            for code in 0..<100 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .invalidResponse && fixture.asked.count == 5)
        #expect(try fixture.store.operations.count() == 100)
        #expect(result.entries.filter { $0.outcome.name == "notReached" }.count == 95)
    }

    /// An invalid response about one object says nothing about the others.
    @Test func `responses invalid for their objects stop nothing`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        let wrong = InvalidResponse(
            .otherItem, message: "It is another one.", table: "Card", url: "https://shop.example", status: 200)
        for _ in 0..<10 { fixture.remote.next(.fail(.invalidResponse(wrong))) }
        try await fixture.store.write { tx in
            for code in 0..<20 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy == nil && fixture.remote.items(in: "Card").count == 10)
    }

    /// A scheduler does not consider a server unavailable that has accepted an operation.
    @Test func `a failing object delays no local change`() async throws {
        let fixture = try SchedulerFixture()
        for code in 1...9 {
            let card = try await fixture.insert("\(code)")
            for _ in 0..<50 {
                fixture.remote.next(.fail(.later(status: 500, retryAfter: nil)), on: .id(card.localID.rawValue))
            }
        }
        await fixture.start()
        try await fixture.insert("a")
        await fixture.pass(20)
        #expect(fixture.remote.items(in: "Card").count == 1 && fixture.scheduler.lastError != nil)
        try await fixture.change("b")
        await fixture.pass(3)
        #expect(fixture.remote.items(in: "Card").count == 2)
        await fixture.scheduler.stop()
    }
}
