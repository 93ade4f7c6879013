import Foundation
import Tandem

extension PushRun {
    // MARK: Success

    /// Stores the server's current item after a success.
    func acknowledge(_ attempt: Attempt, item: RemoteItem?) async throws -> Step {
        state.withLock { $0.recordResponse() }
        let stored: ServerItem?
        let coder = context.coder(of: attempt.settings)
        do throws(UnreadableValue) {
            stored = if let item { try coder.decode(item) } else { nil }
        } catch {
            return .markOutcomeUnknown(attempt, error: SyncError(error, coder: coder))
        }
        do {
            return next(
                after: try await store.write { try self.acknowledge(attempt, item: stored, in: $0) }, attempt: attempt)
        } catch let problem as TandemError where problem.code == .duplicateID {
            return try await mistaken(attempt, problem: problem)
        }
    }

    /// Stores the server's current item after a success.
    func acknowledge(
        _ attempt: Attempt, item: ServerItem?, in store: any LocalTransaction
    ) throws -> ResponseOutcome {
        let released =
            try options.deletesFiles && store.isUnderWay(attempt)
            ? store.filesReleased(by: attempt.id, for: item, isOver: true) : []
        let outcome = try store.acknowledge(
            attempt.id, attempt: attempt.number, with: item,
            keepsTombstones: attempt.settings.features.softDelete)
        try store.addUnwanted(released)
        return outcome
    }

    /// Returns the step after a success was stored.
    func next(after outcome: ResponseOutcome, attempt: Attempt) -> Step {
        switch outcome {
        case .done, .refusedHere: .end(success(of: attempt.id))
        case .stillPending: resend(attempt.id)
        case .stale: .reread
        }
    }

    /// Handles a response that names another local object. The server has acted, and a retry would create a second
    /// object. So the operation waits for the user, and the attempt stays recorded.
    private func mistaken(_ attempt: Attempt, problem: TandemError) async throws -> Step {
        let error = SyncError(
            .invalidResponse, message: problem.message, advice: "Report it to the server's operator.",
            table: attempt.table.rawValue,
            url: context.remote.url(of: attempt.table), underlying: problem)
        let wasUnderWay = try await store.write { store in
            guard try store.isUnderWay(attempt) else { return false }
            try store.fail(attempt.id, with: self.operationError(error), retry: false)
            return true
        }
        return wasUnderWay ? .end(.refused(error)) : .reread
    }

    func success(of id: PendingOperation.ID) -> SyncResult.Outcome {
        state.withLock { state in
            guard let node = state.queue[id], node.isMerged else { return .done }
            return .merged(rounds: node.rounds)
        }
    }

    /// Resends in-flight edits once. Continuous editing must not keep the push running. References that an insert left
    /// out are sent too.
    private func resend(_ id: PendingOperation.ID) -> Step {
        state.withLock { state in
            // The object exists, so operations that wait for it need not wait for its update.
            state.queue.release(id)
            guard var node = state.queue[id] else { return .skip }
            guard node.resends < (node.hasLeftOut ? 2 : 1) else { return .end(.stillPending) }
            node.resends += 1
            state.queue[id] = node
            return .retry(unfinished: .stillPending)
        }
    }

    /// Handles a response for an attempt that has ended.
    func stale(_ id: PendingOperation.ID) async throws -> Step {
        let found: PendingOperation?
        do {
            found = try await store.read { try $0.operation(withID: id) }
        } catch is CancellationError where Task.isCancelled {
            // Unlike a write, a read ends if its task is cancelled. The attempt has ended, so nothing is lost.
            return .end(.stillPending)
        }
        guard let operation = found else { return .skip }
        return .end(operation.state == .held ? .held : .stillPending)
    }

    /// The object exists, and no other client has written it. The operation's values follow.
    func follow(_ attempt: Attempt, item: RemoteItem) async throws -> Step {
        let coder = context.coder(of: attempt.settings)
        let stored: ServerItem
        do throws(UnreadableValue) {
            let isBlank = attempt.request == .undelete && coder.isBlank(item)
            stored = try isBlank ? coder.decodeUndeleted(item) : coder.decode(item)
        } catch {
            return .markOutcomeUnknown(attempt, error: SyncError(error, coder: coder))
        }
        let outcome: RebaseOutcome? = try await store.write { store in
            guard try store.isUnderWay(attempt) else { return nil }
            return try store.rebase(attempt.id, onto: stored, takingServers: [], rounding: coder.rounding)
        }
        switch outcome {
        case .adopted: return .end(success(of: attempt.id))
        case .pending: return .sendRest
        case nil: return .reread
        }
    }
}

extension LocalReadTransaction {
    /// Returns whether an attempt is still the current one.
    func isUnderWay(_ attempt: Attempt) throws -> Bool {
        guard let operation = try operation(withID: attempt.id) else { return false }
        return operation.attempts == attempt.number && operation.state == .attempted
    }
}

extension LocalTransaction {
    /// Queues the released files. An object that was restored or changed meanwhile keeps its files.
    func addUnwanted(_ files: [UnwantedFile]) throws {
        for file in files { try addUnwanted(file) }
    }
}

extension SyncError {
    init(_ problem: UnreadableValue, coder: ItemCoder) {
        self.init(
            .invalidResponse, message: problem.message, advice: "Compare the model with the server's table.",
            table: coder.table.rawValue, url: coder.url, property: problem.member, underlying: problem)
    }
}
