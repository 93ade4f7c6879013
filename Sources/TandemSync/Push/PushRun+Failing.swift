import Foundation
import Tandem

extension PushRun {
    /// What a failed request does to its operation, and to the push. It follows from the failure's type alone.
    func fail(_ attempt: Attempt, _ failure: RemoteFailure, mayHaveActed: Bool) async throws -> Next {
        let error = SyncError(failure, table: attempt.table)
        if failure.isCancellation, Task.isCancelled {
            try await note(attempt, error, mayHaveActed: mayHaveActed)
            stop(.cancelled)
            return .over(.retryLater(error, at: nil))
        }
        switch failure {
        case .notSent, .lost, .unauthenticated:
            try await note(attempt, error, mayHaveActed: mayHaveActed)
            stop(.failure(error))
            return .over(.retryLater(error, at: nil))
        case .later(_, let retryAfter):
            return try await putOff(attempt, error, retryAfter, mayHaveActed: mayHaveActed)
        case .badAnswer: return try await leaveUncertain(attempt, error)
        case .refused, .conflict, .gone, .notFound, .unsendable:
            guard !mayHaveActed else { return try await leaveUncertain(attempt, error) }
            return try await refuse(attempt, error)
        }
    }

    /// The server will not have it: it waits for the user, or for a new change. The rest goes on.
    private func refuse(_ attempt: Attempt, _ error: SyncError) async throws -> Next {
        let problem = operationError(error)
        let isUnderWay = try await store.write { store in
            try store.fail(attempt.id, attempt: attempt.number, problem, retry: false, retryAt: nil)
        }
        return isUnderWay ? .over(.refused(error)) : try await stale(attempt.id)
    }

    /// The server may have done it. The rest goes on.
    func leaveUncertain(_ attempt: Attempt, _ error: SyncError) async throws -> Next {
        try await note(attempt, error, mayHaveActed: true)
        return .over(.retryLater(error, at: nil))
    }

    /// Leaves what the server has surely not done to the next push.
    func putBack(_ attempt: Attempt, _ error: SyncError) async throws -> Next {
        try await note(attempt, error, mayHaveActed: false)
        return .over(.retryLater(error, at: nil))
    }

    /// What the server holds can't be read, and is in the way of an operation.
    func unreadable(_ problem: UnreadableValue, _ id: Operation.ID, _ attempt: Attempt?) async throws -> Next {
        guard let attempt else {
            let model = state.withLock { $0.queue[id]?.table }
            return .over(.retryLater(SyncError(problem, table: RemoteTableName(model ?? "")), at: nil))
        }
        return try await putBack(attempt, SyncError(problem, table: attempt.table))
    }

    /// Leaves an operation to be sent again.
    private func note(
        _ attempt: Attempt, _ error: SyncError, mayHaveActed: Bool, retryAt: Date? = nil
    ) async throws {
        let problem = operationError(error)
        try await store.write { store in
            if mayHaveActed {
                _ = try store.leaveUncertain(attempt.id, attempt: attempt.number, problem, retryAt: retryAt)
            } else {
                _ = try store.fail(attempt.id, attempt: attempt.number, problem, retry: true, retryAt: retryAt)
            }
        }
    }

    func operationError(_ error: SyncError, keeping item: ServerItem? = nil) -> OperationError {
        OperationError(
            status: error.status, message: error.message, at: options.clock.now(),
            serverItem: item.map { Data($0.source) })
    }

    // MARK: Patience

    /// So many operations in a row that have used up their tries, each for itself: the server is down, and not the
    /// object at fault.
    private static let exhaustedLimit = 5

    /// The server can't answer now: a few more tries in this push, then it is left for the next one.
    private func putOff(
        _ attempt: Attempt, _ error: SyncError, _ retryAfter: Duration?, mayHaveActed: Bool
    ) async throws -> Next {
        let policy = options.retry
        let tries = state.withLock { state in
            state.queue[attempt.id]?.tries += 1
            return state.queue[attempt.id]?.tries ?? policy.tries
        }
        let isAskedFor = retryAfter.map { $0 > .zero } ?? false
        let delay = max(retryAfter ?? .zero, isAskedFor ? .zero : policy.delay(after: tries, options.random()))
        let until = options.clock.now().addingTimeInterval(min(delay.seconds, RetryPolicy.longestPause))
        // Who says when is obeyed, by all.
        if isAskedFor, delay <= policy.ceiling {
            state.withLock { $0.pausedUntil = max($0.pausedUntil ?? until, until) }
        }
        let mayRetry = tries < policy.tries && delay <= policy.ceiling
        let retryAt = isAskedFor ? until : nil
        try await note(attempt, error, mayHaveActed: mayHaveActed, retryAt: retryAt)
        let unfinished = PushResult.Outcome.retryLater(error, at: retryAt)
        guard mayRetry else {
            let isDown = state.withLock { state in
                state.exhausted += 1
                return state.exhausted >= Self.exhaustedLimit
            }
            if delay > policy.ceiling || isDown { stop(.failure(error)) }
            return .over(unfinished)
        }
        if !isAskedFor {
            state.withLock { $0.queue[attempt.id]?.unfinished = unfinished }
            try await rest(for: delay)
        }
        return .again(unfinished)
    }
}

extension RetryPolicy {
    /// How long to wait after a try that failed: anything up to twice as long as the last time, so that those who failed
    /// together do not come back together.
    func delay(after tries: Int, _ random: UInt64) -> Duration {
        let longest = min(ceiling.seconds, first.seconds * Double(1 << min(max(tries - 1, 0), 30)))
        return .seconds(max(0, longest) * (Double(random >> 11) * 0x1p-53))
    }
}
