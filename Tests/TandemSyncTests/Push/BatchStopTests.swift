import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Batches during the end of a push: a stop, a cancellation, a requested pause, or the end of the process.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct BatchStopTests {
    private struct Killed: Error {}

    /// Waits for a condition, and no longer than ten seconds.
    private static func wait(until condition: @Sendable () -> Bool) async {
        for _ in 0..<10_000 where !condition() { try? await Task.sleep(for: .milliseconds(1)) }
    }

    /// Two batches are recorded at once. The response to the first one asks for a pause before the second one is sent.
    ///
    /// - Parameter seconds: The length of the pause. The push waits for a short one, and stops at a long one.
    @Test(arguments: [5, 3600])
    func `a batch that was not sent before a pause is withdrawn`(seconds: Int) async throws {
        let fixture = try SyncFixture(batchLimit: 2)
        let ids = try await fixture.insertCards(4)
        let second = try #require(try fixture.store.operations.all().last?.id)
        let (context, waits) = (Synchronized<SyncContext?>(nil), Counter())
        let (atPause, isRecorded) = (Synchronized<[Int]>([]), Synchronized(false))
        let sync = fixture.context(with: fixture.remote) { options in
            options.inFlight = 2
            options.onPushStep = { step in
                guard case .began(second) = step, waits.next() == 1 else { return }
                isRecorded.change { $0 = true }
                // The first batch's response arrives in any case.
                await Self.wait { context.value?.pause.end(at: fixture.clock.now()) != nil }
                atPause.change { $0.append(fixture.exchanges) }
            }
        }
        context.change { $0 = sync }
        // The response arrives when the second batch is recorded.
        fixture.remote.next(.meanwhile { await Self.wait { isRecorded.value } }, on: .id(ids[0].rawValue))
        fixture.remote.next(.fail(.later(status: 503, retryAfter: .seconds(seconds))), on: .id(ids[1].rawValue))
        let result = try await sync.attemptPush()
        // The second batch was ready, and not sent.
        #expect(atPause.value == [1])
        if seconds > 30 {
            #expect(result.stoppedBy?.code == .later && fixture.batchSizes == [2])
            #expect(result.entries.map(\.outcome.name) == ["retryLater", "retryLater", "notReached", "notReached"])
            let operations = try fixture.store.operations.all()
            #expect(operations.map(\.attempts) == [1, 1, 0, 0])
            #expect(operations.map(\.state) == [.attempted, .attempted, .pending, .pending])
            #expect(operations.suffix(2).allSatisfy { $0.error == nil })
            fixture.clock.advance(by: 3601)
            #expect(try await sync.push().isComplete)
        } else {
            #expect(result.stoppedBy == nil && result.entries.allSatisfy { $0.outcome.name == "done" })
        }
        #expect(try fixture.isLevel())
    }

    /// The second batch waits for the first one, whose failure stops the push.
    @Test(arguments: [
        RemoteFailure.later(status: 503, retryAfter: .seconds(3600)), .unreachable,
        .unauthenticated(status: 401, underlying: nil),
    ])
    func `a batch that waits for another one is not sent after the push has stopped`(
        failure: RemoteFailure
    ) async throws {
        let fixture = try SyncFixture(batchLimit: 2)
        let ids = try await fixture.insertCards(6)
        let queue = try fixture.store.operations.all().map(\.id)
        let (first, last, began) = (queue.prefix(2), try #require(queue.last), Synchronized(false))
        let sync = fixture.context(with: fixture.remote) { options in
            options.inFlight = 3
            options.onPushStep = { step in
                guard case .began(let id) = step, !first.contains(id) else { return }
                // Another batch must not be sent before the first one.
                await Self.wait { fixture.exchanges > 0 }
                if id == last { began.change { $0 = true } }
            }
        }
        // The response arrives when all batches are recorded.
        fixture.remote.next(.meanwhile { await Self.wait { began.value } }, on: .id(ids[0].rawValue))
        fixture.remote.next(.fail(failure), on: .id(ids[1].rawValue))
        let result = try await sync.attemptPush()
        #expect(result.stoppedBy != nil && began.value && fixture.batchSizes == [2])
        let operations = try fixture.store.operations.all()
        #expect(operations.map(\.attempts) == [1, 1, 0, 0, 0, 0])
        #expect(operations.suffix(4).allSatisfy { $0.state == .pending && $0.error == nil })
        #expect(result.entries.suffix(4).allSatisfy { $0.outcome.name == "notReached" })
        fixture.clock.advance(by: 3601)
        #expect(try await sync.push().isComplete)
        #expect(try fixture.isLevel())
    }

    @Test func `a batch that was not sent before a cancellation is withdrawn`() async throws {
        let fixture = try SyncFixture(batchLimit: 3)
        try await fixture.insertCards(3)
        let last = try #require(try fixture.store.operations.all().last?.id)
        let isReady = Synchronized(false)
        let sync = fixture.context(with: fixture.remote) { options in
            options.onPushStep = { step in
                guard case .began(last) = step else { return }
                isReady.change { $0 = true }
                for _ in 0..<10_000 where !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
            }
        }
        let push = Task { try await sync.push() }
        await Self.wait { isReady.value }
        push.cancel()
        await #expect(throws: CancellationError.self) { try await push.value }
        #expect(fixture.exchanges == 0)
        let operations = try fixture.store.operations.all()
        #expect(operations.allSatisfy { $0.state == .pending && $0.attempts == 0 && $0.error == nil })
        #expect(try fixture.store.checkIntegrity() == [])
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel())
    }

    @Test func `a batch in flight ends with the push's cancellation`() async throws {
        let fixture = try SyncFixture(batchLimit: 3)
        try await fixture.insertCards(3)
        fixture.remote.next(.hang, on: .batch)
        let push = Task { try await fixture.sync.push() }
        await Self.wait { fixture.remote.inFlight == 1 }
        push.cancel()
        await #expect(throws: CancellationError.self) { try await push.value }
        #expect(try fixture.store.operations.all().allSatisfy { $0.state == .attempted })
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel())
    }

    /// The look-up of the first operation fails. The second one is not sent.
    @Test func `a failed look-up withdraws the rest of the batch`() async throws {
        let fixture = try SyncFixture(ids: .server, batchLimit: 4) { $0.inFlight = 1 }
        try await fixture.insertCards(4)
        fixture.remote.next(.fail(.later(status: 500, retryAfter: nil)), on: .batch)
        fixture.remote.next(.fail(.unauthenticated(status: 401, underlying: nil)), on: .find)
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .unauthenticated)
        #expect(fixture.asked == Array(repeating: .insert, count: 4) + [.find])
        #expect(try fixture.store.operations.all().map(\.attempts) == [2, 1, 1, 1])
        #expect(try fixture.store.operations.all().allSatisfy { $0.error != nil })
        #expect(try fixture.store.checkIntegrity() == [])
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.arrived.count == 4)
    }

    /// A remote may send its writes one after the other, and would send those that wait in it.
    @Test func `single writes that wait for another one are not sent after the push has stopped`() async throws {
        let fixture = try SyncFixture(batchLimit: 4) { $0.inFlight = 3 }
        try await fixture.insertCards(3)
        fixture.remote.next(.loseRequest, on: .batch)
        try await fixture.sync.attemptPush()
        // Each goes alone, because its outcome is unknown.
        fixture.remote.forgetRequests()
        fixture.remote.next(.fail(.later(status: 503, retryAfter: .seconds(3600))), on: .insert)
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .later && fixture.asked == [.insert])
        #expect(result.entries.map(\.outcome.name).sorted() == ["notReached", "notReached", "retryLater"])
        let operations = try fixture.store.operations.all()
        #expect(operations.map(\.attempts).sorted() == [1, 1, 2] && operations.allSatisfy { $0.error != nil })
        fixture.clock.advance(by: 3601)
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.arrived == ["0", "1", "2"])
    }

    /// The first attempt has arrived, and its response was lost. The second one is withdrawn.
    @Test func `an operation of unknown outcome is retried after its next attempt is withdrawn`() async throws {
        let fixture = try SyncFixture(batchLimit: 4) { $0.inFlight = 3 }
        try await fixture.insertCards(3)
        fixture.remote.next(.loseResponse, on: .batch)
        try await fixture.sync.attemptPush()
        fixture.remote.next(.fail(.later(status: 503, retryAfter: .seconds(3600))), on: .insert)
        // Each operation is recorded before the response to the first one.
        let begun = Counter()
        let sync = fixture.context(with: fixture.remote) { options in
            options.inFlight = 3
            options.onPushStep = { step in
                guard case .began = step else { return }
                _ = begun.next()
                await Self.wait { begun.value >= 3 }
            }
        }
        try await sync.attemptPush()
        let withdrawn = try #require(try fixture.store.operations.all().first { $0.attempts == 1 })
        // No request is in flight, so the user may decide.
        #expect(withdrawn.state == .pending)
        let error = try #require(withdrawn.error)
        let card = try #require(try fixture.card(withdrawn.localID))
        #expect(try await fixture.sync.state(of: card) == .retrying(.insert, error: error))
        // The server may have the object, so that its delete is sent too.
        try await fixture.store.write { try $0.delete(Card.self, localID: card.localID) }
        #expect(try fixture.store.operations.count() == 3)
        #expect(try fixture.store.checkIntegrity() == [])
        fixture.clock.advance(by: 3601)
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.remote.items(in: "Card").count == 2)
    }

    /// Otherwise a server that is down would receive a request for each operation of the batch.
    @Test func `outcomes are not looked up after the push has stopped`() async throws {
        let fixture = try SyncFixture(batchLimit: 4) { $0.inFlight = 1 }
        let ids = try await fixture.insertCards(4)
        for id in ids { fixture.remote.next(.respondWithoutBody, on: .id(id.rawValue)) }
        fixture.remote.always(.fail(.unreachable), on: .find)
        let result = try await fixture.sync.attemptPush()
        #expect(result.stoppedBy?.code == .unreachable)
        #expect(fixture.asked == Array(repeating: .insert, count: 4) + [.find])
        #expect(result.entries.map(\.outcome.name) == Array(repeating: "retryLater", count: 4))
        let operations = try fixture.store.operations.all()
        #expect(operations.allSatisfy { $0.state == .attempted && $0.attempts == 1 && $0.error != nil })
        fixture.remote.endLastingFaults()
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.arrived.count == 4)
    }

    /// The first outcome asks for a pause. The second one needs a look-up.
    @Test func `a look-up after a batch waits for the server's pause`() async throws {
        let fixture = try SyncFixture(batchLimit: 2)
        try await fixture.insertCards(2)
        let (remote, start, calls) = (fixture.remote, fixture.clock.now(), Counter())
        let lookedUpAt = Synchronized<Date?>(nil)
        let picky = PickyRemote(
            remote, limit: { 2 },
            respond: { requests throws(RemoteFailure) in
                let results = try await remote.send(requests)
                guard calls.next() == 1, case .success(var response) = results[1] else { return results }
                response.item = nil
                return [.failure(.later(status: 503, retryAfter: .seconds(5))), .success(response)]
            })
        remote.next(.meanwhile { lookedUpAt.change { $0 = fixture.clock.now() } }, on: .find)
        #expect(try await fixture.context(with: picky).push().isComplete)
        let time = try #require(lookedUpAt.value)
        #expect(time >= start + 5)
        #expect(try fixture.isLevel() && fixture.arrived.count == 2)
    }

    /// The check takes time. Meanwhile, the server asks for a long pause, and the push stops.
    @Test func `an operation is not sent if the push stops while the app checks it`() async throws {
        let fixture = try SyncFixture()
        try await fixture.insertCards(2)
        let (sync, checks) = (fixture.context(with: fixture.remote) { $0.inFlight = 2 }, Counter())
        let pause = sync.pause
        try sync.table(Card.self).setBeforeSend { operation in
            if operation.object.barcode == "1", checks.next() == 1 {
                await Self.wait { pause.end(at: fixture.clock.now()) != nil }
            }
            return .send
        }
        fixture.remote.next(.fail(.later(status: 503, retryAfter: .seconds(3600))), on: .barcode("0"))
        let result = try await sync.attemptPush()
        #expect(result.entries.map(\.outcome.name) == ["retryLater", "notReached"])
        #expect(fixture.exchanges == 1 && result.stoppedBy?.code == .later)
        #expect(try fixture.store.operations.all().map(\.attempts) == [1, 0])
        fixture.clock.advance(by: 3601)
        #expect(try await sync.push().isComplete)
        #expect(try fixture.isLevel() && checks.value == 2)
    }

    // MARK: Crashes

    enum CrashPoint: CaseIterable, Sendable { case began, responded, concluded }

    private func isAt(_ place: CrashPoint, _ step: PushStep) -> Bool {
        switch (place, step) {
        case (.began, .began), (.responded, .responded), (.concluded, .concluded): true
        default: false
        }
    }

    /// Queues an insert, an update and a delete.
    private func prepare(_ fixture: SyncFixture) async throws {
        let (edited, deleted) = (try await fixture.syncedCard("a"), try await fixture.syncedCard("b"))
        try await fixture.store.write { tx in
            try tx.insert(Card(shop: "Магнит", barcode: "c"))
            try tx.update(Card.self, localID: edited.localID) { $0.points = 7 }
            try tx.delete(Card.self, localID: deleted.localID)
        }
    }

    /// Sends what is left, and checks that each change is on the server once.
    private func finish(_ fixture: SyncFixture, _ comment: Comment) async throws {
        #expect(try fixture.store.checkIntegrity() == [], comment)
        let context = try fixture.restarted()
        let result = try await context.push()
        #expect(result.stoppedBy == nil && result.failedOperations.isEmpty, comment)
        try await context.push()
        #expect(fixture.arrived == ["a", "c"], comment)
        #expect(try fixture.isLevel(), comment)
    }

    @Test(arguments: CrashPoint.allCases, [ScriptedRemote.IDs.client, .server])
    func `a batch that crashes at any step is carried out once`(
        place: CrashPoint, ids: ScriptedRemote.IDs
    ) async throws {
        for count in 1...3 {
            let fixture = try SyncFixture(ids: ids, batchLimit: 5)
            try await prepare(fixture)
            let steps = Counter()
            let dying = try fixture.restarted { options in
                options.onPushStep = { step in
                    if isAt(place, step), steps.next() == count { throw Killed() }
                }
            }
            do {
                _ = try await dying.attemptPush()
            } catch is Killed {}
            #expect(steps.value >= count)
            try await finish(fixture, "\(place) \(count)")
        }
    }

    /// The process dies at a write, before or after its commit.
    @Test(arguments: [ScriptedRemote.IDs.client, .server], [true, false])
    func `a batch whose transaction fails is carried out once`(ids: ScriptedRemote.IDs, commits: Bool) async throws {
        for number in 1...8 {
            let fixture = try SyncFixture(ids: ids, batchLimit: 5)
            try await prepare(fixture)
            let store = FailingStore(fixture.store)
            let sync = fixture.context(with: fixture.remote, store: store)
            try sync.table(Card.self).setIdentity(ids == .server ? .server(lookUp: "localKey") : .client)
            store.fail(atWrite: number, commits: commits)
            _ = try? await sync.attemptPush()
            store.recover()
            try await finish(fixture, "write \(number)")
        }
    }
}
