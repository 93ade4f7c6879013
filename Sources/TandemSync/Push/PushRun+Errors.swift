import Foundation
import Tandem

extension PushRun {
    /// Handles a failed request. The effect on the operation and the push depends only on the failure's type.
    func fail(_ attempt: Attempt, with failure: RemoteFailure, mayHaveActed: Bool) async throws -> Step {
        let error = SyncError(failure, table: attempt.table, url: context.remote.url(of: attempt.table))
        if failure.isCancellation, Task.isCancelled {
            try await storeError(attempt, error: error, mayHaveActed: mayHaveActed)
            stop(.cancelled)
            return .end(.retryLater(error, at: nil))
        }
        switch failure {
        case .notSent, .lost, .unauthenticated:
            try await storeError(attempt, error: error, mayHaveActed: mayHaveActed)
            stop(.failure(error))
            return .end(.retryLater(error, at: nil))
        case .later(_, let retryAfter):
            return try await postpone(attempt, error: error, retryAfter: retryAfter, mayHaveActed: mayHaveActed)
        case .invalidResponse(let response):
            let next = try await markOutcomeUnknown(attempt, error: error)
            if response.code.isStrangers { recordExhausted(attempt.id, error: error) }
            return next
        case .refused, .conflict, .gone, .notFound, .notEncodable, .outdatedPosition, .file:
            // A server that refuses is not down. A request that can't be encoded was not sent.
            if case .notEncodable = failure {} else { state.withLock { $0.recordResponse() } }
            guard !mayHaveActed else { return .markOutcomeUnknown(attempt, error: error) }
            return try await refuse(attempt, error: error)
        }
    }

    /// Handles a refusal: the operation waits for the user, or for a new change. The rest continues.
    private func refuse(_ attempt: Attempt, error: SyncError) async throws -> Step {
        let problem = operationError(error)
        let isUnderWay = try await store.write { store in
            try store.fail(attempt.id, attempt: attempt.number, with: problem, retry: false, retryAt: nil)
        }
        return isUnderWay ? .end(.refused(error)) : .reread
    }

    /// Handles an unknown outcome: the server may have acted. The rest continues.
    func markOutcomeUnknown(_ attempt: Attempt, error: SyncError) async throws -> Step {
        try await storeError(attempt, error: error, mayHaveActed: true)
        return .end(.retryLater(error, at: nil))
    }

    /// Leaves an operation that the server has certainly not carried out to the next push.
    func requeue(_ attempt: Attempt, error: SyncError) async throws -> Step {
        try await storeError(attempt, error: error, mayHaveActed: false)
        return .end(.retryLater(error, at: nil))
    }

    /// Handles a server item that can't be decoded and blocks an operation. The item may come from the operation
    /// itself.
    func unreadable(_ problem: UnreadableValue, id: PendingOperation.ID, attempt: Attempt?) async throws -> Step {
        let coder = try attempt.map { context.coder(of: $0.settings) } ?? coder(of: id)
        guard let coder else { return .skip }
        let error = SyncError(problem, coder: coder)
        guard let attempt else { return .end(try await leaveUnsent(id, error: error)) }
        return .markOutcomeUnknown(attempt, error: error)
    }

    /// Leaves an unsent operation to the next push, and stores the reason. The outcome of an earlier attempt stays
    /// unknown.
    func leaveUnsent(_ id: PendingOperation.ID, error: SyncError) async throws -> SyncResult.Outcome {
        let problem = operationError(error)
        try await store.write { store in
            guard let operation = try store.operation(withID: id) else { return }
            switch operation.state {
            case .pending: try store.fail(id, with: problem, retry: true)
            case .attempted:
                _ = try store.markOutcomeUnknown(
                    id, attempt: operation.attempts, error: problem, retryAt: operation.retryAt)
            case .failed, .held: return
            }
        }
        return .retryLater(error, at: nil)
    }

    /// Stores the error of an operation that is to be sent again.
    private func storeError(
        _ attempt: Attempt, error: SyncError, mayHaveActed: Bool, retryAt: Date? = nil
    ) async throws {
        let problem = operationError(error)
        try await store.write { store in
            try store.storeError(problem, of: attempt, mayHaveActed: mayHaveActed, retryAt: retryAt)
        }
    }

    func operationError(_ error: SyncError, keeping item: ServerItem? = nil) -> OperationError {
        OperationError(
            status: error.status, message: error.message, at: options.clock.now(),
            serverItem: item.map { Data($0.source) })
    }

    // MARK: Patience

    /// Handles a server that is not available: retries a few times, then leaves the operation to the next push.
    private func postpone(
        _ attempt: Attempt, error: SyncError, retryAfter: Duration?, mayHaveActed: Bool
    ) async throws -> Step {
        let policy = options.retry
        let tries = state.withLock { state in
            state.queue[attempt.id]?.tries += 1
            return state.queue[attempt.id]?.tries ?? policy.tries
        }
        let isAskedFor = retryAfter.map { $0 > .zero } ?? false
        let delay = max(retryAfter ?? .zero, isAskedFor ? .zero : policy.delay(after: tries, random: options.random()))
        var (error, retryAt) = (error, nil as Date?)
        if isAskedFor {
            retryAt = recordPause(delay, in: &error)
        }
        let mayRetry = tries < policy.tries && delay <= policy.ceiling
        try await storeError(attempt, error: error, mayHaveActed: mayHaveActed, retryAt: retryAt)
        let unfinished = SyncResult.Outcome.retryLater(error, at: retryAt)
        guard mayRetry else {
            recordExhausted(attempt.id, error: error)
            return .end(unfinished)
        }
        if !isAskedFor {
            state.withLock { $0.queue[attempt.id]?.unfinished = unfinished }
            try await rest(for: delay)
        }
        return .retry(unfinished: unfinished)
    }
}

extension PushRun {
    /// Records a server's `Retry-After`, which applies to all requests. If it is too long, the push stops.
    ///
    /// - Returns: The end of the pause, which is also stored in the error.
    func recordPause(_ delay: Duration, in error: inout SyncError) -> Date {
        let now = options.clock.now()
        let end = ServerBackoff.end(of: delay, at: now)
        error.retryAt = end
        // Stop before the pause is recorded, so that no request begins to wait for a long pause.
        if delay > options.retry.ceiling { stop(.failure(error)) }
        context.pause.record(until: end, at: now)
        return end
    }

    /// Records that an operation has exhausted its attempts. After too many of these, the push stops.
    func recordExhausted(_ id: PendingOperation.ID, error: SyncError) {
        if state.withLock({ $0.recordExhausted(id, error: error) }) { stop(.failure(error)) }
    }

    /// Returns the next operation to send. Skipped operations wait for the next push, with their earlier errors.
    func dequeue(isIdle: Bool) -> PendingOperation.ID? {
        while let (id, failure) = state.withLock({ $0.dequeue(isIdle: isIdle) }) {
            guard let failure else { return id }
            let coder = try? coder(of: id)
            let error = SyncError(
                .later, message: "It has failed in an earlier push: \(failure.message)",
                advice: "A later sync tries again.", table: coder?.table.rawValue, url: coder?.url,
                status: failure.status)
            state.withLock { $0.queue.finish(id, outcome: .retryLater(error, at: nil)) }
            reportProgress()
        }
        return nil
    }
}

extension LocalTransaction {
    /// Stores the error of an operation that is to be sent again.
    func storeError(
        _ error: OperationError, of attempt: Attempt, mayHaveActed: Bool, retryAt: Date?
    ) throws {
        if mayHaveActed {
            _ = try markOutcomeUnknown(attempt.id, attempt: attempt.number, error: error, retryAt: retryAt)
        } else {
            _ = try fail(attempt.id, attempt: attempt.number, with: error, retry: true, retryAt: retryAt)
        }
    }
}

extension InvalidResponse.Code {
    /// Returns whether another host may have responded, for example a sign-in page.
    var isStrangers: Bool { self == .notJSON || self == .status }
}
