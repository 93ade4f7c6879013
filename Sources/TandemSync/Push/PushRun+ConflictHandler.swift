import Foundation
import Tandem

// Conflicts that the app decides.

extension PushRun {
    /// Asks the app for a decision, and applies it.
    func ask(_ facts: ConflictFacts, serverState: ServerState) async throws -> Step {
        let settings = try context.settings(of: facts.operation.table)
        guard case .ask(let body) = settings.conflicts else { return .end(.stillPending) }
        let verdict: ConflictVerdict
        do {
            verdict = try await body(facts)
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            verdict = .later(.hook, message: "The app could not decide: \(SyncError.words(of: error))")
        }
        do {
            return try await carryOut(verdict, facts: facts, serverState: serverState)
        } catch let problem as TandemError {
            guard case .written = verdict else { throw problem }
            let excuse = ConflictVerdict.later(
                .hook, message: "What the app decided can't be written: \(problem.message)")
            return try await carryOut(excuse, facts: facts, serverState: serverState)
        }
    }

    /// Applies the app's decision, in a transaction of its own.
    private func carryOut(
        _ verdict: ConflictVerdict, facts: ConflictFacts, serverState: ServerState
    ) async throws -> Step {
        let id = facts.operation.id
        return try await store.write { store in
            guard let object = try store.outgoing(id) else { return .skip }
            if let attempt = serverState.attempt, try !store.isUnderWay(attempt) { return .reread }
            guard object.operation.state != .held else { return .reread }
            // If the object changed meanwhile, the app is asked again.
            guard object.operation.changedAt == facts.operation.changedAt else { return .sendRest }
            return try self.carryOut(verdict, facts: facts, serverState: serverState, object: object, in: store)
        }
    }

    /// Writes the app's values, or deletes the object, based on the server's item.
    func write(
        _ values: [String: StorageValue]?, object: OutgoingObject, in store: any LocalTransaction
    ) throws -> RebaseOutcome {
        let operation = object.operation
        try store.change(operation.localID, in: operation.table, to: values)
        guard let changed = try store.operation(on: operation.localID, in: operation.table) else { return .adopted }
        guard changed.id != operation.id else { return .pending }
        // The previous operation has no remaining changes, so this is a new one.
        state.withLock { state in
            let rounds = state.queue[operation.id]?.rounds ?? 0
            state.queue.append(changed)
            state.queue[changed.id]?.rounds = rounds
            state.queue[changed.id]?.isMerged = true
        }
        return .adopted
    }
}
