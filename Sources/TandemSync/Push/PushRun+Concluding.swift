import Foundation
import Tandem

extension PushRun {
    /// Folds an answer in, in one transaction.
    func conclude(_ attempt: Attempt, _ reply: Reply) async throws -> Next {
        switch reply {
        case .done(let item):
            state.withLock { $0.noteAnswer() }
            return try await acknowledge(attempt, item)
        case .present(let item): return try await follow(attempt, item)
        case .differs(let item, let status):
            state.withLock { $0.noteAnswer() }
            return try await meet(Encounter(item: item, status: status, attempt: attempt), attempt.id)
        case .missing(let status):
            return try await meet(Encounter(item: nil, status: status, attempt: attempt), attempt.id)
        case .unclear(let error): return try await leaveUncertain(attempt, error)
        case .failed(let failure, let mayHaveActed):
            return try await fail(attempt, failure, mayHaveActed: mayHaveActed)
        }
    }

    // MARK: Success

    private func acknowledge(_ attempt: Attempt, _ item: RemoteItem?) async throws -> Next {
        let stored: ServerItem?
        let forms = context.forms(of: attempt.settings)
        do throws(UnreadableValue) {
            stored = if let item { try forms.stored(item) } else { nil }
        } catch {
            return try await leaveUncertain(attempt, SyncError(error, forms))
        }
        let outcome: AnswerOutcome
        do {
            let deletesFiles = options.deletesFiles
            outcome = try await store.write { store in
                func acknowledge() throws -> AnswerOutcome {
                    try store.acknowledge(
                        attempt.id, attempt: attempt.number, with: stored,
                        keepsTombstones: attempt.settings.features.softDelete)
                }
                return try deletesFiles ? store.notingUnwantedFiles(of: attempt, acknowledge) : acknowledge()
            }
        } catch let problem as TandemError where problem.code == .duplicateID {
            return try await mistaken(attempt, problem)
        }
        switch outcome {
        case .done, .refusedHere: return .over(success(of: attempt.id))
        case .stillPending: return resend(attempt.id)
        case .stale: return try await stale(attempt.id)
        }
    }

    /// The server says that the object is another one that is here. It has acted, and would make one more if it were asked
    /// again: that waits for the user, and that it was asked is remembered.
    private func mistaken(_ attempt: Attempt, _ problem: TandemError) async throws -> Next {
        let error = SyncError(
            .badAnswer, problem.message, advice: "Tell whoever runs the server.", table: attempt.table.rawValue,
            url: context.remote.url(of: attempt.table), underlying: problem)
        let wasUnderWay = try await store.write { store in
            guard try store.isUnderWay(attempt) else { return false }
            try store.fail(attempt.id, self.operationError(error), retry: false)
            return true
        }
        return wasUnderWay ? .over(.refused(error)) : try await stale(attempt.id)
    }

    func success(of id: Operation.ID) -> PushResult.Outcome {
        state.withLock { state in
            guard let node = state.queue[id], node.isMerged else { return .done }
            return .merged(rounds: node.rounds)
        }
    }

    /// What was changed in flight is sent once more, then left: whoever types would keep the push busy for ever. What an
    /// insert has left out follows besides.
    private func resend(_ id: Operation.ID) -> Next {
        state.withLock { state in
            // The object is there: those that wait for it need not wait for its update.
            state.queue.release(id)
            guard var node = state.queue[id] else { return .gone }
            guard node.resends < (node.hasLeftOut ? 2 : 1) else { return .over(.stillPending) }
            node.resends += 1
            state.queue[id] = node
            return .again(.stillPending)
        }
    }

    /// The answer was for an attempt that is over.
    func stale(_ id: Operation.ID) async throws -> Next {
        guard let operation = try await store.write({ try $0.operation(withID: id) }) else { return .gone }
        return .over(operation.state == .held ? .held : .stillPending)
    }

    /// The object is there, and nobody else has written it: what was wanted of it follows.
    private func follow(_ attempt: Attempt, _ item: RemoteItem) async throws -> Next {
        let forms = context.forms(of: attempt.settings)
        let stored: ServerItem
        do throws(UnreadableValue) {
            let isBlank = attempt.request.mayMeetBlank && forms.isBlank(item)
            stored = try isBlank ? forms.undeleted(item) : forms.stored(item)
        } catch {
            return try await leaveUncertain(attempt, SyncError(error, forms))
        }
        let outcome: RebaseOutcome? = try await store.write { store in
            guard try store.isUnderWay(attempt) else { return nil }
            return try store.rebase(attempt.id, onto: stored, takingServers: [], rounding: forms.rounding)
        }
        switch outcome {
        case .adopted: return .over(success(of: attempt.id))
        case .pending:
            state.withLock { $0.queue.release(attempt.id) }
            return .again(.stillPending)
        case nil: return try await stale(attempt.id)
        }
    }
}

extension LocalReading {
    /// Whether an attempt has neither ended nor been followed by another one.
    func isUnderWay(_ attempt: Attempt) throws -> Bool {
        guard let operation = try operation(withID: attempt.id) else { return false }
        return operation.attempts == attempt.number && operation.state == .attempted
    }
}

/// A store that keeps what files are to be deleted on the server.
protocol FileForgetting {
    /// Queues the files of an object that is about to go.
    func addUnwantedFiles(of localID: LocalID, in table: String) throws
    /// The URLs of the files in whose place an update puts another one, or none.
    func filesReplaced(by id: Tandem.Operation.ID) throws -> [String]
    /// Queues a file, unless an object names it.
    func addUnwantedFile(at url: String) throws
    /// Drops that queue.
    func forgetUnwantedFiles() throws
}

extension LocalWriting {
    /// Acknowledges an attempt, and queues the files that the server has just let go of with it: those of an object that
    /// it has deleted, and those in whose place an update has put another. An object that was brought back, or changed,
    /// meanwhile keeps them until that is sent.
    fileprivate func notingUnwantedFiles(
        of attempt: Attempt, _ acknowledge: () throws -> AnswerOutcome
    ) throws -> AnswerOutcome {
        guard let files = self as? any FileForgetting, try isUnderWay(attempt),
            let operation = try operation(withID: attempt.id)
        else { return try acknowledge() }
        if attempt.request.isDelete {
            if operation.kind == .delete { try files.addUnwantedFiles(of: operation.localID, in: operation.table) }
            return try acknowledge()
        }
        let replaced = try files.filesReplaced(by: attempt.id)
        let outcome = try acknowledge()
        if outcome == .done { try replaced.forEach(files.addUnwantedFile(at:)) }
        return outcome
    }
}

extension SyncError {
    init(_ problem: UnreadableValue, _ forms: ItemForms) {
        self.init(
            .badAnswer, problem.message, advice: "Compare the model with the server's table.",
            table: forms.table.rawValue, url: forms.url, property: problem.member, underlying: problem)
    }
}
