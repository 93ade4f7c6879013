import Foundation
import Tandem

// The failure of a batch as a whole.
//
// The server has stored all writes of the batch or none. If it may have stored them, the outcome of each is unknown, as
// after a single request with this failure. The next attempt then begins with the same look-up.

extension PushRun {
    /// Handles the failure of a batch as a whole.
    ///
    /// A failure that a value may cause divides the batch. Its operations return to the queue for smaller batches,
    /// until the operation at fault is alone. An operation alone is handled as if there were no batches. Each division
    /// makes the largest possible batch of these operations smaller, so it ends.
    func fail(_ attempts: [Attempt], with failure: RemoteFailure) async throws {
        for attempt in attempts { try await step(.responded(attempt.id)) }
        if failure.isCancellation, Task.isCancelled {
            let errors = try await storeErrors(attempts, failure: failure)
            stop(.cancelled)
            return await end(attempts, errors: errors)
        }
        switch failure {
        case .notSent, .lost, .unauthenticated:
            let errors = try await storeErrors(attempts, failure: failure)
            if let error = errors.first { stop(.failure(error)) }
            await end(attempts, errors: errors)
        case .later(_, let retryAfter):
            try await postpone(attempts, failure: failure, retryAfter: retryAfter ?? .zero)
        case .invalidResponse(let response) where response.code.isStrangers:
            // Another host has responded, which says nothing about the values.
            await exhaust(attempts, errors: try await storeErrors(attempts, failure: failure))
        case .invalidResponse:
            try await divide(attempts, errors: try await storeErrors(attempts, failure: failure))
        case .refused, .conflict, .gone, .notFound, .notEncodable, .outdatedPosition, .file:
            let errors = try await storeErrors(attempts, failure: failure)
            // The server accepts no batch of this size, or no batch at all.
            if case .notEncodable = failure {} else { limitBatches(to: half(of: attempts)) }
            try await divide(attempts, errors: errors)
        }
    }

    /// Handles a server that is not available, or fails because of a value.
    private func postpone(
        _ attempts: [Attempt], failure: RemoteFailure, retryAfter: Duration
    ) async throws {
        let policy = options.retry
        let isAskedFor = retryAfter > .zero
        var retryAt: Date?
        if isAskedFor, let first = attempts.first {
            var error = syncError(failure, of: first)
            retryAt = recordPause(retryAfter, in: &error)
        }
        let errors = try await storeErrors(attempts, failure: failure, retryAt: retryAt)
        guard retryAfter <= policy.ceiling else { return await end(attempts, errors: errors) }
        // A server that limits the rate of requests, and so has not acted, does not complain about values.
        guard failure.mayHaveActed else {
            let tries = count(attempts, in: \.tries)
            guard tries < policy.tries else { return await exhaust(attempts, errors: errors) }
            let delay = isAskedFor ? .zero : policy.delay(after: tries, random: options.random())
            return try await retry(attempts, errors: errors, after: delay)
        }
        // Some servers respond with `Retry-After` to a value that they can never store.
        if isAskedFor, count(attempts, in: \.batchDelays) < 2 {
            return try await retry(attempts, errors: errors, after: .zero)
        }
        try await divide(attempts, errors: errors, isAskedFor: isAskedFor)
    }

    /// Increments a counter of each operation.
    ///
    /// - Returns: The largest count.
    private func count(_ attempts: [Attempt], in counter: WritableKeyPath<PushQueue.Node, Int>) -> Int {
        state.withLock { state in
            for attempt in attempts { state.queue[attempt.id]?[keyPath: counter] += 1 }
            return attempts.compactMap { state.queue[$0.id]?[keyPath: counter] }.max() ?? 0
        }
    }

    private func half(of attempts: [Attempt]) -> Int { max(1, (attempts.count + 1) / 2) }

    /// Limits the size of all further batches of the push.
    private func limitBatches(to limit: Int) {
        state.withLock { $0.batchLimit = min($0.batchLimit ?? limit, limit) }
    }

    // MARK: -

    /// Stores the error of each operation, in one transaction.
    ///
    /// - Returns: The errors.
    private func storeErrors(
        _ attempts: [Attempt], failure: RemoteFailure, retryAt: Date? = nil
    ) async throws -> [SyncError] {
        let errors = attempts.map { attempt in
            var error = syncError(failure, of: attempt)
            error.retryAt = retryAt
            return error
        }
        let problems = errors.map { operationError($0) }
        try await store.write { store in
            for (attempt, problem) in zip(attempts, problems) {
                try store.storeError(problem, of: attempt, mayHaveActed: failure.mayHaveActed, retryAt: retryAt)
            }
        }
        return errors
    }

    func syncError(_ failure: RemoteFailure, of attempt: Attempt) -> SyncError {
        SyncError(failure, table: attempt.table, url: context.remote.url(of: attempt.table))
    }

    /// Leaves the operations to the next push.
    private func end(_ attempts: [Attempt], errors: [SyncError]) async {
        for (attempt, error) in zip(attempts, errors) {
            await carryOut(
                .end(.retryLater(error, at: error.retryAt)), of: attempt.id, appliesResponse: true, inBatch: true)
        }
    }

    /// Leaves operations that have exhausted their attempts to the next push.
    private func exhaust(_ attempts: [Attempt], errors: [SyncError]) async {
        for (attempt, error) in zip(attempts, errors) { recordExhausted(attempt.id, error: error) }
        await end(attempts, errors: errors)
    }

    /// Returns the operations to the queue, for batches of at most half the size.
    private func divide(_ attempts: [Attempt], errors: [SyncError], isAskedFor: Bool = false) async throws {
        let half = half(of: attempts)
        state.withLock { state in
            for attempt in attempts { state.queue[attempt.id]?.batchLimit = half }
        }
        let delay = isAskedFor ? .zero : options.retry.delay(after: 1, random: options.random())
        try await retry(attempts, errors: errors, after: delay)
    }

    /// Returns the operations to the queue after a delay.
    private func retry(_ attempts: [Attempt], errors: [SyncError], after delay: Duration) async throws {
        let outcomes = errors.map { SyncResult.Outcome.retryLater($0, at: $0.retryAt) }
        state.withLock { state in
            state.isBatchFailing = true
            for (attempt, outcome) in zip(attempts, outcomes) { state.queue[attempt.id]?.unfinished = outcome }
        }
        if delay > .zero { try await rest(for: delay) }
        for (attempt, outcome) in zip(attempts, outcomes) {
            await carryOut(.retry(unfinished: outcome), of: attempt.id, appliesResponse: true, inBatch: true)
        }
    }
}
