import Foundation
import Tandem

extension PushRun {
    /// What a failed request does to its operation, and to the push. It follows from the failure's type alone.
    func fail(_ attempt: Attempt, _ failure: RemoteFailure, mayHaveActed: Bool) async throws -> Next {
        let error = SyncError(failure, table: attempt.table, url: context.remote.url(of: attempt.table))
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
        case .badAnswer(let answer):
            let next = try await leaveUncertain(attempt, error)
            if answer.code.isStrangers { noteExhausted(attempt.id, error) }
            return next
        case .refused, .conflict, .gone, .notFound, .unsendable, .file:
            // A server that refuses is not down. What can't be written down has not been to it.
            if case .unsendable = failure {} else { state.withLock { $0.noteAnswer() } }
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

    /// What the server holds can't be read, and is in the way of an operation: which may be what that has sent itself.
    func unreadable(_ problem: UnreadableValue, _ id: Operation.ID, _ attempt: Attempt?) async throws -> Next {
        let forms = try attempt.map { context.forms(of: $0.settings) } ?? forms(of: id)
        guard let forms else { return .gone }
        let error = SyncError(problem, forms)
        guard let attempt else { return .over(try await leaveUnsent(id, error)) }
        return try await leaveUncertain(attempt, error)
    }

    /// Leaves an operation to the next push that could not be sent in this one, and notes why. What became of an earlier
    /// attempt is as unknown as before.
    func leaveUnsent(_ id: Operation.ID, _ error: SyncError) async throws -> SyncResult.Outcome {
        let problem = operationError(error)
        try await store.write { store in
            guard let operation = try store.operation(withID: id) else { return }
            switch operation.state {
            case .pending: try store.fail(id, problem, retry: true)
            case .attempted:
                _ = try store.leaveUncertain(id, attempt: operation.attempts, problem, retryAt: operation.retryAt)
            case .failed, .held: return
            }
        }
        return .retryLater(error, at: nil)
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
        var (error, retryAt) = (error, nil as Date?)
        // Who says when is obeyed, by all.
        if isAskedFor {
            let now = options.clock.now()
            let end = ServerPause.end(of: delay, at: now)
            (retryAt, error.retryAt) = (end, end)
            // Before the pause is known: nobody is to begin to wait for the end of a long one.
            if delay > policy.ceiling { stop(.failure(error)) }
            context.pause.note(until: end, at: now)
        }
        let mayRetry = tries < policy.tries && delay <= policy.ceiling
        try await note(attempt, error, mayHaveActed: mayHaveActed, retryAt: retryAt)
        let unfinished = SyncResult.Outcome.retryLater(error, at: retryAt)
        guard mayRetry else {
            noteExhausted(attempt.id, error)
            return .over(unfinished)
        }
        if !isAskedFor {
            state.withLock { $0.queue[attempt.id]?.unfinished = unfinished }
            try await rest(for: delay)
        }
        return .again(unfinished)
    }
}

extension PushRun {
    /// Notes that an operation has used up its tries. Where too many have, the push stops.
    private func noteExhausted(_ id: Operation.ID, _ error: SyncError) {
        if state.withLock({ $0.noteExhausted(id, error) }) { stop(.failure(error)) }
    }

    /// The next operation to be sent. What is passed over is left to the next push, with what it failed of before.
    func takeNext(isIdle: Bool) -> Operation.ID? {
        while let (id, failure) = state.withLock({ $0.takeNext(isIdle: isIdle) }) {
            guard let failure else { return id }
            let forms = try? forms(of: id)
            let error = SyncError(
                .later, "It has failed in an earlier push: \(failure.message)",
                advice: "It is tried again by a later sync.", table: forms?.table.rawValue, url: forms?.url,
                status: failure.status)
            state.withLock { $0.queue.finish(id, .retryLater(error, at: nil)) }
            noteProgress()
        }
        return nil
    }
}

extension BadAnswer.Code {
    /// Whether somebody may have answered in the server's place, as a sign-in page does, whatever the object was.
    fileprivate var isStrangers: Bool { self == .notJSON || self == .status }
}

extension RetryPolicy {
    /// How long to wait after a try that failed: anything up to twice as long as the last time, so that those who failed
    /// together do not come back together.
    func delay(after tries: Int, _ random: UInt64) -> Duration {
        let longest = min(ceiling.seconds, first.seconds * Double(1 << min(max(tries - 1, 0), 30)))
        return .seconds(max(0, longest) * (Double(random >> 11) * 0x1p-53))
    }
}
