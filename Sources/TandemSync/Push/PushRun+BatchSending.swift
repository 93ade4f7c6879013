import Foundation
import Tandem

// The request of a batch, with one transaction before it and one after it.
//
// Nothing here waits for another operation to join a batch. Before a batch's task ends, each operation has ended, is
// queued again, or is parked behind an unfinished one. That also holds if a request fails, the task is cancelled, or
// the push stops.

extension PushRun {
    /// Processes operations that are ready at the same time. The independent ones go out in one request.
    func processTogether(_ batch: [PendingOperation.ID]) async {
        do {
            let ready = await checkTogether(batch)
            guard !isBlocked else { return giveBack(ready) }
            var (attempts, others) = ([Attempt](), [(PendingOperation.ID, Step)]())
            for (id, step) in try await prepareTogether(ready) {
                if case .send(let attempt) = step { attempts.append(attempt) } else { others.append((id, step)) }
            }
            if attempts.count > 1 {
                try await sendTogether(attempts)
            } else if let attempt = attempts.first {
                await carryOut(.send(attempt), of: attempt.id, inBatch: true)
            }
            // These may wait for the app. The recorded attempts must not.
            for (id, step) in others { await carryOut(step, of: id, inBatch: true) }
        } catch {
            // The store failed, or a test interrupted the push. The queue in the store is consistent.
            stop(error is CancellationError && Task.isCancelled ? .cancelled : .thrown(error))
        }
    }

    /// Whether no request may be sent now: the push is stopped or cancelled, or the server has requested a pause.
    var isBlocked: Bool {
        if Task.isCancelled || state.withLock({ $0.stop != nil }) { return true }
        return context.pause.secondsLeft(at: options.clock.now(), atMost: options.retry.ceiling.seconds) > 0
    }

    /// Returns operations to the queue. They are sent again after the pause, or by the next push if this one has
    /// stopped.
    private func giveBack(_ ids: [PendingOperation.ID]) {
        state.withLock { state in
            for id in ids { state.queue.giveBack(id) }
        }
    }

    // MARK: Before the request

    /// Lets the app check each operation.
    ///
    /// - Returns: The operations to send.
    private func checkTogether(_ batch: [PendingOperation.ID]) async -> [PendingOperation.ID] {
        var ready: [PendingOperation.ID] = []
        for id in batch {
            do {
                let step = try await check(id)
                if case .prepare = step { ready.append(id) } else { await carryOut(step, of: id, inBatch: true) }
            } catch {
                await end(id, with: error)
                reportProgress()
            }
        }
        return ready
    }

    /// Reads operations, and marks those that can be sent as being sent, in one transaction.
    ///
    /// An operation may refer to a new object of the same batch. It then waits for that object's operation, like for
    /// any other unfinished operation.
    private func prepareTogether(
        _ ids: [PendingOperation.ID]
    ) async throws -> [(id: PendingOperation.ID, step: Step)] {
        let steps = try await store.write { store in
            try ids.map { id -> Result<Step, any Error> in
                do {
                    guard let object = try store.outgoing(id) else { return .success(.skip) }
                    return .success(try self.isUnchecked(object) ? .check : self.prepare(object, in: store))
                } catch  where self.problem(of: error, in: id) != nil {
                    // The failed call has changed nothing. The error of this object must not block the others.
                    return .failure(error)
                }
            }
        }
        var prepared: [(PendingOperation.ID, Step)] = []
        for (id, step) in zip(ids, steps) {
            switch step {
            case .success(let step): prepared.append((id, step))
            case .failure(let error):
                await end(id, with: error)
                reportProgress()
            }
        }
        return prepared
    }

    /// Withdraws attempts whose requests were not sent, and returns their operations to the queue.
    private func withdraw(_ attempts: [Attempt]) async throws {
        try await store.write { store in
            for attempt in attempts {
                _ = try store.withdraw(
                    attempt.id, attempt: attempt.number, restoring: attempt.earlierError,
                    retryAt: attempt.earlierRetryAt)
            }
        }
        giveBack(attempts.map(\.id))
    }

    // MARK: The request

    /// Sends the writes of recorded attempts in one request, and applies the outcomes.
    private func sendTogether(_ attempts: [Attempt]) async throws {
        for attempt in attempts { try await step(.began(attempt.id)) }
        var (senders, found, failed) = ([AttemptSender](), [(Attempt, Step)](), [(Attempt, Step)]())
        for (index, attempt) in attempts.enumerated() {
            let sender = sender(of: attempt)
            guard sender.needsLookUp else {
                senders.append(sender)
                continue
            }
            // A look-up takes time, in which the push may have stopped.
            if isBlocked {
                try await withdraw(senders.map(\.attempt) + attempts[index...])
                senders = []
                break
            }
            switch await sender.lookUp() {
            case nil: senders.append(sender)
            case .fail(let attempt, let failure, let mayHaveActed)?:
                obey(failure, of: attempt)
                failed.append((attempt, .fail(attempt, with: failure, mayHaveActed: mayHaveActed)))
            case let step?: found.append((attempt, step))
            }
        }
        if !senders.isEmpty { try await send(senders) }
        try await conclude(found)
        try await concludeAtOnce(failed)
    }

    /// Sends one batch at a time.
    ///
    /// Otherwise a batch could wait in the remote, and be sent after the push has stopped. While one is sent, the
    /// transactions of other batches run.
    ///
    /// The wait for the lock ends: its holder only waits for a single request. A cancelled task stops waiting at once.
    private func send(_ senders: [AttemptSender]) async throws {
        let attempts = senders.map(\.attempt)
        do {
            try await batchLock.lock()
        } catch {
            return try await withdraw(attempts)
        }
        guard !isBlocked else {
            batchLock.unlock()
            return try await withdraw(attempts)
        }
        let sentAt = options.clock.now()
        let results = await exchange(senders)
        if case .success(let results) = results { senders.first?.record(results, sentAt: sentAt) }
        batchLock.unlock()
        switch results {
        case .success(let results): try await receive(results, of: senders)
        case .failure(let failure): try await fail(attempts, with: failure)
        }
    }

    /// Sends the write of an attempt alone.
    ///
    /// If the server has batches, the write waits for the requests in flight, as a batch does. The remote may send its
    /// writes one after the other. A write that waits there would be sent after the push has stopped.
    ///
    /// - Returns: The next step; `nil` if nothing was sent, and the operation has returned to the queue.
    func sendAlone(_ attempt: Attempt) async throws -> Step? {
        guard state.withLock({ $0.hasBatches }) else { return await sender(of: attempt).nextStep() }
        do {
            try await batchLock.lock()
        } catch {
            try await withdraw([attempt])
            return nil
        }
        guard !isBlocked else {
            batchLock.unlock()
            try await withdraw([attempt])
            return nil
        }
        let next = await sender(of: attempt).nextStep()
        if case .fail(_, let failure, _) = next { obey(failure, of: attempt) }
        batchLock.unlock()
        return next
    }

    /// Sends a batch, and stops the push or begins a pause if a failure demands it.
    private func exchange(
        _ senders: [AttemptSender]
    ) async -> Result<[Result<RemoteResponse, RemoteFailure>], RemoteFailure> {
        do throws(RemoteFailure) {
            let results =
                senders.count == 1
                ? [await context.remote.sendAlone(senders[0].write)] : try await sendBatch(senders)
            for (sender, result) in zip(senders, results) {
                if case .failure(let failure) = result { obey(failure, of: sender.attempt) }
            }
            return .success(results)
        } catch {
            obey(error, of: senders[0].attempt)
            return .failure(error)
        }
    }

    /// Stops the push or begins a pause after a failure, before another batch is sent.
    private func obey(_ failure: RemoteFailure, of attempt: Attempt) {
        var error = syncError(failure, of: attempt)
        switch failure {
        case .notSent, .lost, .unauthenticated:
            stop(failure.isCancellation && Task.isCancelled ? .cancelled : .failure(error))
        case .later(_, let delay?) where delay > .zero: _ = recordPause(delay, in: &error)
        default: break
        }
    }

    private func sendBatch(
        _ senders: [AttemptSender]
    ) async throws(RemoteFailure) -> [Result<RemoteResponse, RemoteFailure>] {
        let results = try await context.remote.send(senders.map(\.write))
        guard results.count == senders.count else {
            let table = senders[0].table
            throw .invalidResponse(
                InvalidResponse(
                    .wrongType, message: "The batch has \(senders.count) requests and \(results.count) responses.",
                    table: table, url: context.remote.url(of: table) ?? "", status: 200))
        }
        return results
    }

    // MARK: The outcomes

    /// Applies the outcomes of a batch. Complete ones are stored first, in one transaction, because the others may need
    /// more requests.
    private func receive(
        _ results: [Result<RemoteResponse, RemoteFailure>], of senders: [AttemptSender]
    ) async throws {
        var (complete, others) = ([(Attempt, Step)](), [(AttemptSender, Result<RemoteResponse, RemoteFailure>)]())
        for (sender, result) in zip(senders, results) {
            if sender.isComplete(result) {
                complete.append((sender.attempt, await sender.step(after: result)))
            } else {
                others.append((sender, result))
            }
        }
        try await conclude(complete)
        var postponed: [(Attempt, Step)] = []
        for (sender, result) in others {
            let next = await step(of: sender, after: result)
            if case .fail(_, .later, _) = next {
                postponed.append((sender.attempt, next))
            } else {
                try await conclude([(sender.attempt, next)])
            }
        }
        try await concludeAtOnce(postponed)
    }

    /// Carries out the steps after failures concurrently, because each may wait for its own delay.
    private func concludeAtOnce(_ failed: [(Attempt, Step)]) async throws {
        for (attempt, _) in failed { try await step(.responded(attempt.id)) }
        await withTaskGroup(of: Void.self) { group in
            for (attempt, next) in failed {
                group.addTask { await self.carryOut(next, of: attempt.id, appliesResponse: true, inBatch: true) }
            }
        }
    }

    /// Returns the step that applies an outcome.
    ///
    /// If the push has stopped, nothing is looked up: a server that is down must not receive a request for each
    /// operation of a batch. The outcome stays unknown until the next push.
    private func step(
        of sender: AttemptSender, after result: Result<RemoteResponse, RemoteFailure>
    ) async -> Step {
        guard sender.looksUp(after: result) else { return await sender.step(after: result) }
        // A cancellation ends the wait, and then the look-up.
        try? await waitOutPause()
        guard let stop = state.withLock({ $0.stop }) else { return await sender.step(after: result) }
        return .markOutcomeUnknown(sender.attempt, error: stop.error)
    }

    /// Carries out the steps that apply responses. Those that need a single call of the store share a transaction.
    private func conclude(_ results: [(Attempt, Step)]) async throws {
        for (attempt, _) in results { try await step(.responded(attempt.id)) }
        let steps = await storeTogether(results)
        for ((attempt, _), step) in zip(results, steps) {
            await carryOut(step, of: attempt.id, appliesResponse: true, inBatch: true)
        }
    }

    /// Stores responses in one transaction.
    ///
    /// - Returns: The next steps. The step of a response that is not stored is unchanged.
    private func storeTogether(_ results: [(Attempt, Step)]) async -> [Step] {
        let responses = results.map { storableResponse(to: $0, step: $1) }
        guard responses.compactMap({ $0 }).count > 1 else { return results.map(\.1) }
        let outcomes: [ResponseOutcome?]
        do {
            outcomes = try await store.write { store in
                try responses.map { try $0.map { try self.store($0, in: store) } }
            }
        } catch {
            // Nothing is stored. Each response is stored in its own transaction, so that an error concerns only its
            // object.
            return results.map(\.1)
        }
        return zip(zip(results, responses), outcomes).map { pair, outcome in
            let ((attempt, step), response) = pair
            guard let outcome else { return step }
            switch response {
            case .refusal(_, let error, let isResponse)?:
                if isResponse { state.withLock { $0.recordResponse() } }
                return outcome == .stale ? .reread : .end(.refused(error))
            case .success?, nil:
                state.withLock { $0.recordResponse() }
                return next(after: outcome, attempt: attempt)
            }
        }
    }

    /// Returns the response that a step stores; `nil` if it needs more than a single call of the store.
    private func storableResponse(to attempt: Attempt, step: Step) -> StorableResponse? {
        switch step {
        case .acknowledge(_, let item):
            guard let item else { return .success(attempt, item: nil) }
            // An item that can't be decoded has an unknown outcome.
            return (try? context.coder(of: attempt.settings).decode(item)).map { .success(attempt, item: $0) }
        case .fail(_, with: let failure, mayHaveActed: false):
            let error = SyncError(failure, table: attempt.table, url: context.remote.url(of: attempt.table))
            switch failure {
            case .refused: return .refusal(attempt, error: error, isResponse: true)
            case .notEncodable: return .refusal(attempt, error: error, isResponse: false)
            default: return nil
            }
        default: return nil
        }
    }

    private func store(_ response: StorableResponse, in store: any LocalTransaction) throws -> ResponseOutcome {
        switch response {
        case .success(let attempt, let item): return try acknowledge(attempt, item: item, in: store)
        case .refusal(let attempt, let error, _):
            let isUnderWay = try store.fail(
                attempt.id, attempt: attempt.number, with: operationError(error), retry: false, retryAt: nil)
            return isUnderWay ? .done : .stale
        }
    }
}

/// A response that a single call of the store stores.
private enum StorableResponse: Sendable {
    case success(Attempt, item: ServerItem?)
    /// - Parameter isResponse: Whether the server has responded. A request that can't be encoded was not sent.
    case refusal(Attempt, error: SyncError, isResponse: Bool)
}
