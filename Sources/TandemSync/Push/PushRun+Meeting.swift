import Foundation
import Tandem

extension PushRun {
    /// How often an operation is put together with what the server holds, in one push.
    private static let roundLimit = 5

    /// What an operation's meeting with the server's side has led to.
    private enum Meeting: Sendable {
        case gone
        case stale
        /// Nothing was in question, or it is decided.
        case followed(RebaseOutcome)
        case tookServers([String: StorageValue])
        case reported(SyncError)
        /// The app is to say.
        case open(ConflictFacts)
    }

    /// Puts an operation together with what the server holds.
    ///
    /// - Parameters:
    ///   - item: What the server holds; `nil` if it keeps nothing of the object.
    ///   - status: The answer's status that told so, if one did.
    ///   - attempt: The attempt that met it; `nil` if a pull did.
    func meet(_ item: RemoteItem?, status: Int?, _ id: Operation.ID, attempt: Attempt?) async throws -> Next {
        let round = state.withLock { state in
            state.queue[id]?.rounds += 1
            return state.queue[id]?.rounds ?? 1
        }
        guard round <= Self.roundLimit else {
            let error = SyncError(
                .conflict, "The object changes on the server as fast as it is sent.",
                advice: "It is tried again by the next push.", status: status)
            guard let attempt else { return .over(.retryLater(error, at: nil)) }
            return try await putBack(attempt, error)
        }
        let meeting: Meeting
        do {
            meeting = try await store.write { store in
                try self.settle(store, item, status, id, attempt, round: round)
            }
        } catch let problem as UnreadableValue {
            return try await unreadable(problem, id, attempt)
        }
        return try await next(after: meeting, item, status, id, attempt)
    }

    private func next(
        after meeting: Meeting, _ item: RemoteItem?, _ status: Int?, _ id: Operation.ID, _ attempt: Attempt?
    ) async throws -> Next {
        switch meeting {
        case .gone: return .gone
        case .stale: return try await stale(id)
        case .followed(.adopted):
            return .over(state.withLock { $0.queue[id]?.isMerged ?? false } ? success(of: id) : .adopted)
        case .followed(.pending):
            // The server knows it now: what refers to it need not wait for the rest.
            state.withLock { $0.queue.release(id) }
            return .again(.stillPending)
        case .tookServers(let lost):
            state.withLock { $0.queue[id]?.lost = lost }
            return .over(.tookServers)
        case .reported(let error): return .over(.conflict(error))
        case .open(let facts): return try await ask(facts, item, status, id, attempt)
        }
    }

    // MARK: In one transaction

    private func settle(
        _ store: any LocalWriting, _ item: RemoteItem?, _ status: Int?, _ id: Operation.ID, _ attempt: Attempt?,
        round: Int
    ) throws -> Meeting {
        guard let object = try store.outgoing(id) else { return .gone }
        if let attempt, try !store.isUnderWay(attempt) { return .stale }
        guard object.operation.state != .held else { return .stale }
        let settings = try context.settings(of: object.operation.table)
        let forms = context.forms(of: settings)
        let there = item ?? Self.nothing(of: object)
        let stored = try forms.stored(there)
        let sides = try store.sides(of: id, against: stored, rounding: forms.rounding)
        guard Self.isInQuestion(sides, object) else {
            return .followed(try follow(store, item == nil ? nil : stored, stored, object, [], forms))
        }
        let facts = ConflictFacts(
            operation: object.operation, sides: sides, item: there, round: round, store: context.store)
        if case .ask = settings.conflicts { return .open(facts) }
        let changedAt = context.serverClock.serverTime(of: object.operation.changedAt)
        let verdict = settings.conflicts.verdict(on: facts, changedAt: changedAt)
        return try carryOut(verdict, facts, item, status, object, attempt, store)
    }

    /// What stands in for the item where the server keeps nothing of it.
    private static func nothing(of object: OutgoingObject) -> RemoteItem {
        RemoteItem(id: object.serverID ?? ServerID(object.operation.localID.rawValue), isDeleted: true)
    }

    /// Whether anybody else's change meets one of ours. Our own write, whose answer was lost, is nobody else's.
    private static func isInQuestion(_ sides: ConflictSides, _ object: OutgoingObject) -> Bool {
        guard sides.isConflict else { return false }
        guard sides.server != nil else {
            return sides.kind != .delete && !object.attemptedKinds.contains(.delete)
        }
        return sides.kind == .delete || !sides.changedHere.isEmpty
    }

    /// - Parameter item: `nil` if the server keeps nothing of the object.
    private func follow(
        _ store: any LocalWriting, _ item: ServerItem?, _ stored: ServerItem, _ object: OutgoingObject,
        _ takingServers: Set<String>, _ forms: ItemForms
    ) throws -> RebaseOutcome {
        let id = object.operation.id
        if item == nil, object.operation.kind != .delete {
            try store.makeInsert(id)
            return .pending
        }
        return try store.rebase(id, onto: stored, takingServers: takingServers, rounding: forms.rounding)
    }

    private func carryOut(
        _ verdict: ConflictVerdict, _ facts: ConflictFacts, _ item: RemoteItem?, _ status: Int?,
        _ object: OutgoingObject, _ attempt: Attempt?, _ store: any LocalWriting
    ) throws -> Meeting {
        let id = object.operation.id
        let settings = try context.settings(of: object.operation.table)
        let forms = context.forms(of: settings)
        let stored = try forms.stored(facts.item)
        do {
            switch verdict {
            case .ours(let names):
                let outcome = try follow(store, item == nil ? nil : stored, stored, object, names, forms)
                state.withLock { $0.queue[id]?.isMerged = true }
                return .followed(outcome)
            case .written(let values):
                _ = try follow(store, item == nil ? nil : stored, stored, object, [], forms)
                state.withLock { $0.queue[id]?.isMerged = true }
                return .followed(try write(values, object, store))
            case .theirs: return .tookServers(try store.discard(id, for: stored))
            case .later(let code, let message):
                let error = SyncError(
                    code, message, advice: "Let the user choose.", table: forms.table.rawValue, status: status)
                return try report(error, stored, id, attempt, store)
            }
        } catch let problem as TandemError where verdict.isOneStep && problem.isAboutValues {
            let error = SyncError(
                .conflict, "The server's side can't be taken here: \(problem.message)", advice: problem.advice,
                table: forms.table.rawValue, status: status, underlying: problem)
            return try report(error, stored, id, attempt, store)
        }
    }

    private func report(
        _ error: SyncError, _ item: ServerItem, _ id: Operation.ID, _ attempt: Attempt?, _ store: any LocalWriting
    ) throws -> Meeting {
        let problem = operationError(error, keeping: item)
        if let attempt {
            let isUnderWay = try store.fail(id, attempt: attempt.number, problem, retry: false, retryAt: nil)
            return isUnderWay ? .reported(error) : .stale
        }
        try store.fail(id, problem, retry: false)
        return .reported(error)
    }

    // MARK: What the app says

    private func ask(
        _ facts: ConflictFacts, _ item: RemoteItem?, _ status: Int?, _ id: Operation.ID, _ attempt: Attempt?
    ) async throws -> Next {
        let settings = try context.settings(of: facts.operation.table)
        guard case .ask(let body) = settings.conflicts else { return .over(.stillPending) }
        let verdict: ConflictVerdict
        do {
            verdict = try await body(facts)
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            verdict = .later(.hook, "The app could not decide: \(error)")
        }
        let meeting: Meeting
        do {
            meeting = try await carryOut(verdict, facts, item, status, attempt)
        } catch let problem as TandemError {
            guard case .written = verdict else { throw problem }
            let excuse = ConflictVerdict.later(.hook, "What the app decided can't be written: \(problem.message)")
            meeting = try await carryOut(excuse, facts, item, status, attempt)
        }
        return try await next(after: meeting, item, status, id, attempt)
    }

    /// Does what the app has decided, in a transaction of its own.
    private func carryOut(
        _ verdict: ConflictVerdict, _ facts: ConflictFacts, _ item: RemoteItem?, _ status: Int?, _ attempt: Attempt?
    ) async throws -> Meeting {
        let id = facts.operation.id
        return try await store.write { store in
            guard let object = try store.outgoing(id) else { return .gone }
            if let attempt, try !store.isUnderWay(attempt) { return .stale }
            guard object.operation.state != .held else { return .stale }
            // What the app has decided about may have changed meanwhile: it is asked again.
            guard object.operation.changedAt == facts.operation.changedAt else { return .followed(.pending) }
            return try self.carryOut(verdict, facts, item, status, object, attempt, store)
        }
    }

    /// Writes what the app wants to be sent, or deletes the object, on top of what the server holds.
    private func write(
        _ values: [String: StorageValue]?, _ object: OutgoingObject, _ store: any LocalWriting
    ) throws -> RebaseOutcome {
        let operation = object.operation
        try store.change(operation.localID, in: operation.table, to: values)
        guard let changed = try store.operation(on: operation.localID, in: operation.table) else { return .adopted }
        guard changed.id != operation.id else { return .pending }
        // Nothing was left of the operation, so that this is another one.
        state.withLock { state in
            let rounds = state.queue[operation.id]?.rounds ?? 0
            state.queue.append(changed)
            state.queue[changed.id]?.rounds = rounds
            state.queue[changed.id]?.isMerged = true
        }
        return .adopted
    }
}

extension ConflictVerdict {
    /// Whether it is carried out by one call, which changes nothing if it throws.
    fileprivate var isOneStep: Bool {
        if case .written = self { false } else { true }
    }
}

extension TandemError {
    /// Whether other objects here are in the way.
    fileprivate var isAboutValues: Bool { code == .duplicateValue || code == .deleteDenied }
}
