import Foundation
import Synchronization
import Tandem

/// A single push.
///
/// Each operation goes through the same steps: a transaction that marks it as being sent, the exchange with the server,
/// and a transaction that applies the response. In-memory state only drives termination. The persisted queue is
/// consistent after every step.
final class PushRun: Sendable {
    let context: SyncContext
    private let isExplicit: Bool
    /// The operations to send; all if `nil`.
    private let only: Set<PendingOperation.ID>?
    let state = Mutex(PushState())
    let isStopped = LiveValue(false)
    /// Held while a batch is in flight.
    let batchLock = AsyncLock()

    var store: any LocalStore { context.store }
    var options: SyncContext.Options { context.options }

    init(_ context: SyncContext, isExplicit: Bool, only: Set<PendingOperation.ID>? = nil) {
        self.context = context
        self.isExplicit = isExplicit
        self.only = only
    }

    func run() async throws -> SyncResult {
        try Task.checkCancellation()
        try await load()
        reportProgress()
        if let first = state.withLock({ $0.queue.inOrder.first?.id }),
            let error = context.pauseError(for: try coder(of: first))
        {
            stop(.failure(error))
        }
        let limit = min(max(options.inFlight, 1), 64)
        await withTaskGroup(of: Void.self) { group in
            var running = 0
            // The only wait here is for a running task. A task takes all of its operations at its start. It waits for
            // no other operation to join. So each task ends, and so does this loop.
            while true {
                while running < limit {
                    let batch = await dequeueBatch(isIdle: running == 0)
                    guard !batch.isEmpty else { break }
                    running += 1
                    group.addTask { await self.process(batch) }
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
            case nil: state.result(stoppedBy: state.silence)
            }
        }
    }

    // MARK: -

    /// Loads the operations to send. Operations that are queued later wait for the next push.
    private func load() async throws {
        let now = options.clock.now()
        var (last, hasDeletes) = (nil as PendingOperation.ID?, false)
        while true {
            let after = last
            let operations = try await store.read { try $0.operations(after: after, limit: 512) }
            state.withLock { state in
                for operation in operations where operation.state == .pending || operation.state == .attempted {
                    if let only, !only.contains(operation.id) { continue }
                    if let date = retryDate(of: operation, at: now) {
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
        state.withLock { state in
            state.queue.arrange(keepingOrder: options.inFlight <= 1, upTo: PushState.exhaustedLimit)
        }
        if hasDeletes { try await recordReferrers() }
    }

    /// Returns the time from which an operation may be sent; `nil` if it may be sent now.
    private func retryDate(of operation: PendingOperation, at now: Date) -> Date? {
        guard !isExplicit, let date = operation.retryAt, date > now else { return nil }
        // A later date shows that the clock was set back, so it does not apply.
        return date > now + RetryPolicy.longestPause ? nil : date
    }

    /// Processes the operations of a task as far as possible.
    private func process(_ batch: [PendingOperation.ID]) async {
        if batch.count > 1 {
            await processTogether(batch)
        } else if let id = batch.first {
            await carryOut(.check, of: id)
        }
    }

    /// Carries out the steps of an operation as far as possible.
    ///
    /// - Parameters:
    ///   - appliesResponse: Whether the step applies a response.
    ///   - inBatch: Whether the operation is part of a batch.
    func carryOut(_ step: Step, of id: PendingOperation.ID, appliesResponse: Bool = false, inBatch: Bool = false) async
    {
        do {
            guard try await advance(id, from: step, appliesResponse: appliesResponse, inBatch: inBatch) else { return }
        } catch {
            await end(id, with: error)
        }
        reportProgress()
    }

    /// Ends an operation after an error. An error of this object does not block the rest.
    func end(_ id: PendingOperation.ID, with error: any Error) async {
        var (reason, outcome) = (error, nil as SyncResult.Outcome?)
        if let problem = problem(of: error, in: id) {
            do {
                try await store.write { try $0.fail(id, with: self.operationError(problem), retry: false) }
                outcome = .refused(problem)
            } catch {
                reason = error
            }
        }
        if outcome == nil {
            stop(reason is CancellationError && Task.isCancelled ? .cancelled : .thrown(reason))
        }
        let ended = outcome
        state.withLock { $0.queue.finish(id, outcome: ended ?? $0.queue[id]?.unfinished) }
    }

    /// Returns the error if it concerns this object; `nil` if it concerns the store or the push.
    func problem(of error: any Error, in id: PendingOperation.ID) -> SyncError? {
        let coder = try? coder(of: id)
        switch error {
        case let error as UnreadableValue:
            return SyncError(
                .notEncodable, message: error.message, advice: "Change the value.", table: coder?.table.rawValue,
                url: coder?.url,
                property: error.member, underlying: error)
        case let error as TandemError:
            switch error.code {
            case .duplicateValue, .duplicateID, .deleteDenied, .invalidValue:
                return SyncError(
                    .conflict, message: error.message, advice: error.advice, table: coder?.table.rawValue,
                    url: coder?.url,
                    underlying: error)
            default: return nil
            }
        default: return nil
        }
    }

    /// Returns the coder of an operation's object; `nil` if the operation is not part of this push.
    func coder(of id: PendingOperation.ID) throws -> ItemCoder? {
        try state.withLock { $0.queue[id]?.table }.map { try context.coder(of: context.settings(of: $0)) }
    }

    func reportProgress() {
        let (done, total) = state.withLock { ($0.queue.finished, $0.queue.nodes.count) }
        if total > 0 { context.statusTracker.setActivity(.pushing(done: done, total: total)) }
    }

    /// Reports a step of the push to a test.
    func step(_ step: PushStep) async throws {
        try await options.onPushStep?(step)
    }
}

/// The in-memory state of a push.
struct PushState {
    /// The reason why the push sends no more requests.
    enum Stop {
        case failure(SyncError)
        case cancelled
        /// The store failed, or a test interrupted the push.
        case thrown(any Error)

        /// The error of an operation whose outcome can't be determined any more.
        var error: SyncError {
            switch self {
            case .failure(let error): error
            case .cancelled: SyncError(stopping: CancellationError())
            case .thrown(let error): SyncError(stopping: error)
            }
        }
    }

    var queue = PushQueue()
    var stop: Stop?
    /// The time of the first deferred operation.
    var nextDue: Date?
    /// The number of consecutive operations that have exhausted their attempts and had not failed before.
    private var exhausted = 0
    /// The number of consecutive operations that have exhausted their attempts and had failed in an earlier push too.
    /// They say little about the server.
    private var exhaustedAgain = 0
    private var lastExhaustion: SyncError?
    /// Whether the server has responded for any object and so is not down.
    private var hasResponse = false
    /// The maximum number of operations in a batch; `nil` until the server was asked.
    var batchLimit: Int?
    /// Whether the server accepts batches, as far as it is known.
    var hasBatches = false
    /// Whether the last batch failed as a whole, and the server has not responded for any object since.
    var isBatchFailing = false

    /// Returns the next operation, with its earlier error if it is to be skipped. It is skipped if enough similar
    /// operations are tried and the server has not responded. An unavailable server must not receive a request for
    /// every failed operation.
    ///
    /// - Parameter isIdle: Whether no request is in flight that may still get a response.
    mutating func dequeue(isIdle: Bool) -> (id: PendingOperation.ID, failure: OperationError?)? {
        guard stop == nil, let id = queue.next else { return nil }
        guard let node = queue[id], isSkipped(node) else {
            queue.dequeue()
            return (id, nil)
        }
        guard isIdle else { return nil }
        queue.dequeue()
        return (id, node.earlierError)
    }

    /// Returns whether an operation is skipped in favor of others that failed in an earlier push too. See
    /// ``dequeue(isIdle:)``.
    func isSkipped(_ node: PushQueue.Node) -> Bool {
        let mayGo = hasResponse && exhaustedAgain < Self.exhaustedLimit
        // If a skipped operation had waiting operations, each push would skip them, and they would never be sent.
        return node.isSpare && !mayGo && !queue.isAwaited(node.id)
    }

    // MARK: Is the server down, or are objects at fault?

    /// The number of consecutive exhausted operations after which the server counts as down.
    static let exhaustedLimit = 5

    /// Records that the server has responded for an object.
    mutating func recordResponse() {
        (exhausted, exhaustedAgain, hasResponse) = (0, 0, true)
        isBatchFailing = false
    }

    /// Records that an operation has exhausted its attempts.
    ///
    /// Operations that failed in an earlier push do not count: however many there are, they must not keep those behind
    /// them from being tried.
    ///
    /// - Returns: Whether the server is down.
    mutating func recordExhausted(_ id: PendingOperation.ID, error: SyncError) -> Bool {
        lastExhaustion = error
        if queue[id]?.earlierError != nil {
            exhaustedAgain += 1
            return false
        }
        exhausted += 1
        return exhausted >= Self.exhaustedLimit
    }

    /// The error if all attempted operations of a complete push failed: the server seems to be down.
    var silence: SyncError? {
        !hasResponse && exhausted + exhaustedAgain >= Self.exhaustedLimit ? lastExhaustion : nil
    }

    /// Returns the result of a push that was cut.
    ///
    /// - Throws: An error that can't carry a result, unless edits were dropped: only the result records these.
    func result(throwing error: any Error) throws -> SyncResult {
        let result = result(stoppedBy: SyncError(stopping: error))
        guard error is SyncError || result.hasGivenUp else { throw error }
        return result
    }

    func result(stoppedBy error: SyncError?) -> SyncResult {
        SyncResult(
            // Report dropped edits, also of an operation with no remaining changes.
            entries: queue.inOrder.filter { !$0.isGone || $0.lost != nil }.map {
                SyncResult.Entry(
                    id: $0.id, kind: $0.kind, table: $0.table, localID: $0.localID,
                    outcome: $0.outcome ?? ($0.isGone ? .tookServers : $0.unfinished),
                    lost: $0.lost)
            }, stoppedBy: error, nextDue: nextDue)
    }
}
