import Foundation
import Tandem

// A conflict that the app decides about.

extension PushRun {
    /// Has the app decide, and does what it says.
    func ask(_ facts: ConflictFacts, _ encounter: Encounter) async throws -> Next {
        let settings = try context.settings(of: facts.operation.table)
        guard case .ask(let body) = settings.conflicts else { return .over(.stillPending) }
        let verdict: ConflictVerdict
        do {
            verdict = try await body(facts)
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            verdict = .later(.hook, "The app could not decide: \(SyncError.words(of: error))")
        }
        let meeting: Meeting
        do {
            meeting = try await carryOut(verdict, facts, encounter)
        } catch let problem as TandemError {
            guard case .written = verdict else { throw problem }
            let excuse = ConflictVerdict.later(.hook, "What the app decided can't be written: \(problem.message)")
            meeting = try await carryOut(excuse, facts, encounter)
        }
        return try await next(after: meeting, encounter, facts.operation.id)
    }

    /// Does what the app has decided, in a transaction of its own.
    private func carryOut(
        _ verdict: ConflictVerdict, _ facts: ConflictFacts, _ encounter: Encounter
    ) async throws -> Meeting {
        let id = facts.operation.id
        return try await store.write { store in
            guard let object = try store.outgoing(id) else { return .gone }
            if let attempt = encounter.attempt, try !store.isUnderWay(attempt) { return .stale }
            guard object.operation.state != .held else { return .stale }
            // What the app has decided about may have changed meanwhile: it is asked again.
            guard object.operation.changedAt == facts.operation.changedAt else { return .followed(.pending) }
            return try self.carryOut(verdict, facts, encounter, object, store)
        }
    }

    /// Writes what the app wants to be sent, or deletes the object, on top of what the server holds.
    func write(
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
