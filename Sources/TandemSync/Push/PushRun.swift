import Foundation
import Synchronization
import Tandem

/// One push.
///
/// Each operation goes through the same steps: a transaction that looks at it and notes that it is being sent, the
/// exchange with the server, and a transaction that folds the answer in. What is remembered between them is only what
/// makes the push end: the queue in the store is right at every step.
final class PushRun: Sendable {
    let context: SyncContext
    private let isExplicit: Bool
    let state = Mutex(PushState())

    var store: any LocalStore { context.store }
    var options: SyncContext.Options { context.options }

    init(_ context: SyncContext, isExplicit: Bool) {
        self.context = context
        self.isExplicit = isExplicit
    }

    func run() async throws -> PushResult {
        try Task.checkCancellation()
        try await load()
        noteProgress()
        let limit = min(max(options.inFlight, 1), 64)
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            while true {
                while running < limit, let id = state.withLock({ $0.takeNext() }) {
                    running += 1
                    group.addTask { await self.process(id) }
                }
                guard running > 0 else { break }
                await group.next()
                running -= 1
            }
        }
        return try state.withLock { state in
            switch state.stop {
            case .cancelled: try state.result(throwing: CancellationError())
            case .thrown(let error): try state.result(throwing: error)
            case .failure(let error): state.result(stoppedBy: error)
            case nil: state.result(stoppedBy: nil)
            }
        }
    }

    // MARK: -

    /// Notes what there is to send. What is queued later is left for the next push.
    private func load() async throws {
        let now = options.clock.now()
        var (last, hasDeletes) = (nil as Operation.ID?, false)
        while true {
            let after = last
            let operations = try await store.read { try $0.operations(after: after, limit: 512) }
            state.withLock { state in
                for operation in operations where operation.state == .pending || operation.state == .attempted {
                    if let date = putOffDate(of: operation, now) {
                        state.nextDue = min(state.nextDue ?? date, date)
                        continue
                    }
                    state.queue.append(operation)
                    if operation.kind == .delete { hasDeletes = true }
                }
            }
            guard operations.count == 512, let end = operations.last?.id else { break }
            last = end
        }
        if hasDeletes { try await noteReferrers() }
    }

    /// When an operation may be sent; `nil` if it may be now.
    private func putOffDate(of operation: Operation, _ now: Date) -> Date? {
        guard !isExplicit, let date = operation.retryAt, date > now else { return nil }
        // Nothing is put off for longer: the clock was set back.
        return date > now + RetryPolicy.longestPause ? nil : date
    }

    /// Takes an operation as far as it goes.
    private func process(_ id: Operation.ID) async {
        do {
            switch try await advance(id) {
            case .over(let outcome): state.withLock { $0.queue.finish(id, outcome) }
            case .gone: state.withLock { $0.queue.finish(id, nil) }
            case .parked: return
            }
        } catch {
            await end(id, with: error)
        }
        noteProgress()
    }

    /// Ends an operation that something was thrown for. What is about this one object does not hold up the rest.
    private func end(_ id: Operation.ID, with error: any Error) async {
        var (reason, outcome) = (error, nil as PushResult.Outcome?)
        if let problem = Self.problem(of: error) {
            do {
                try await store.write { try $0.fail(id, self.operationError(problem), retry: false) }
                outcome = .refused(problem)
            } catch {
                reason = error
            }
        }
        if outcome == nil {
            stop(reason is CancellationError && Task.isCancelled ? .cancelled : .thrown(reason))
        }
        let ended = outcome
        state.withLock { $0.queue.finish(id, ended ?? $0.queue[id]?.unfinished) }
    }

    /// What an error says of one object; `nil` if it is about the store, or the push.
    private static func problem(of error: any Error) -> SyncError? {
        switch error {
        case let error as UnreadableValue:
            return SyncError(
                .unsendable, error.message, advice: "Change the value.", property: error.member, underlying: error)
        case let error as TandemError:
            switch error.code {
            case .duplicateValue, .duplicateID, .deleteDenied, .invalidValue:
                return SyncError(.conflict, error.message, advice: error.advice, underlying: error)
            default: return nil
            }
        default: return nil
        }
    }

    private func noteProgress() {
        let (done, total) = state.withLock { ($0.queue.finished, $0.queue.nodes.count) }
        if total > 0 { context.board.note(.pushing(done: done, total: total)) }
    }

    /// Tells a test where the push is.
    func step(_ step: PushStep) async throws {
        try await options.onPushStep?(step)
    }
}

/// What a push knows while it goes on.
struct PushState {
    /// Why nothing more is sent.
    enum Stop {
        case failure(SyncError)
        case cancelled
        /// The store failed, or a test has cut the push.
        case thrown(any Error)
    }

    var queue = PushQueue()
    var stop: Stop?
    /// Until when the server has asked to be left alone.
    var pausedUntil: Date?
    /// When the first of those may be sent that were left for later.
    var nextDue: Date?
    /// How many operations in a row have used up their tries.
    var exhausted = 0
    /// Those who wait for a moment to send, to be woken if the push is stopped.
    var sleepers: [Int: CheckedContinuation<Void, Never>] = [:]
    var lastSleeper = 0

    mutating func takeNext() -> Operation.ID? {
        stop == nil ? queue.takeNext() : nil
    }

    /// Throws why the push was cut, unless values were given up before: they are in the result alone.
    func result(throwing error: any Error) throws -> PushResult {
        let result = result(stoppedBy: SyncError(stopping: error))
        guard result.hasGivenUp else { throw error }
        return result
    }

    func result(stoppedBy error: SyncError?) -> PushResult {
        PushResult(
            // What was given up is told, also of an operation of which nothing is left.
            entries: queue.inOrder.filter { !$0.isGone || !$0.lost.isEmpty }.map {
                PushResult.Entry(
                    id: $0.id, kind: $0.kind, table: $0.table, localID: $0.localID,
                    outcome: $0.outcome ?? ($0.isGone ? .tookServers : $0.unfinished),
                    lost: $0.lost)
            }, stoppedBy: error, nextDue: nextDue)
    }
}

/// Where a push is with an operation, for tests that cut it there.
package enum PushStep: Sendable, Hashable {
    /// The attempt is noted; nothing was sent.
    case began(Operation.ID)
    /// The server has answered; nothing of it is stored.
    case answered(Operation.ID)
    /// The answer is stored.
    case concluded(Operation.ID)
}
