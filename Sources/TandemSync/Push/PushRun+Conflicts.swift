import Foundation
import Tandem

/// The server's state of an operation's object.
struct ServerState: Sendable {
    /// The server's item; `nil` if the server has none.
    var item: RemoteItem?
    /// The status of the response, if there was one.
    var status: Int?
    /// The attempt with this response; `nil` if a pull fetched the item.
    var attempt: Attempt?
    /// The stored form of the deferred item, if a pull fetched it.
    var deferredSource: [UInt8]?
}

extension PushRun {
    /// The maximum number of merges of an operation in a push.
    private static let roundLimit = 5

    /// Merges an operation with the server's item.
    func resolveConflict(_ serverState: ServerState, id: PendingOperation.ID) async throws -> Step {
        // An item of a pull, or a missing item, does not show that the server has answered for an object.
        if serverState.attempt != nil, serverState.item != nil { state.withLock { $0.recordResponse() } }
        let round = state.withLock { state in
            state.queue[id]?.rounds += 1
            return state.queue[id]?.rounds ?? 1
        }
        guard round <= Self.roundLimit else {
            let coder = try coder(of: id)
            let error = SyncError(
                .conflict, message: "The object changes on the server as fast as it is sent.",
                advice: "The next push tries again.", table: coder?.table.rawValue, url: coder?.url,
                status: serverState.status)
            guard let attempt = serverState.attempt else { return .end(try await leaveUnsent(id, error: error)) }
            return try await requeue(attempt, error: error)
        }
        do {
            return try await store.write { store in
                try self.resolveInStore(store, serverState: serverState, id: id, round: round)
            }
        } catch let problem as UnreadableValue {
            return try await unreadable(problem, id: id, attempt: serverState.attempt)
        }
    }

    /// Returns the step after an operation was rebased.
    private func next(after outcome: RebaseOutcome, of id: PendingOperation.ID) -> Step {
        guard outcome == .adopted else { return .sendRest }
        return .end(state.withLock { $0.queue[id]?.isMerged ?? false } ? success(of: id) : .adopted)
    }

    // MARK: In one transaction

    private func resolveInStore(
        _ store: any LocalTransaction, serverState: ServerState, id: PendingOperation.ID, round: Int
    ) throws -> Step {
        guard let object = try store.outgoing(id) else { return .skip }
        if let attempt = serverState.attempt, try !store.isUnderWay(attempt) { return .reread }
        guard object.operation.state != .held else { return .reread }
        let settings = try context.settings(of: object.operation.table)
        let coder = context.coder(of: settings)
        let there = serverState.item ?? Self.nothing(of: object)
        let stored = try Self.decode(there, serverState: serverState, object: object, coder: coder)
        let sides = try store.sides(of: id, against: stored, rounding: coder.rounding)
        // Without versions the last write wins, which is this one.
        let isLastWrite = !settings.features.versions && sides.server != nil
        let facts = ConflictFacts(operation: object.operation, sides: sides, item: there, round: round)
        guard !isLastWrite, !settings.model.isAboutFilesAlone(sides), Self.isInQuestion(sides, object: object) else {
            return try carryOut(.nothing, facts: facts, serverState: serverState, object: object, in: store)
        }
        if case .ask = settings.conflicts { return .ask(facts, serverState: serverState) }
        let changedAt = context.serverClock.serverTime(of: object.operation.changedAt)
        let verdict = settings.conflicts.verdict(on: facts, changedAt: changedAt)
        return try carryOut(verdict, facts: facts, serverState: serverState, object: object, in: store)
    }

    /// Decodes the server's item for the model. After an undelete without a response, the item may be blank.
    private static func decode(
        _ item: RemoteItem, serverState: ServerState, object: OutgoingObject, coder: ItemCoder
    ) throws(UnreadableValue) -> ServerItem {
        let mayBeUndeleted = Attempt.request(for: object) == .undelete || object.attemptedKinds.mayUndelete
        let isBlank = !item.isDeleted && mayBeUndeleted && coder.isBlank(item)
        return try isBlank
            ? coder.decodeUndeleted(item, deferredAs: serverState.deferredSource)
            : coder.decode(item, deferredAs: serverState.deferredSource)
    }

    /// Returns a substitute for the item if the server has none.
    private static func nothing(of object: OutgoingObject) -> RemoteItem {
        RemoteItem(id: object.serverID ?? ServerID(object.operation.localID.rawValue), isDeleted: true)
    }

    /// Returns whether another client's change conflicts with ours. Our own write with a lost response does not count.
    private static func isInQuestion(_ sides: ConflictSides, object: OutgoingObject) -> Bool {
        guard sides.isConflict else { return false }
        guard sides.server != nil else {
            return sides.kind != .delete && !object.attemptedKinds.contains(.delete)
        }
        return sides.kind == .delete || !sides.changedHere.isEmpty
    }

    private func follow(
        _ serverState: ServerState, stored: ServerItem, object: OutgoingObject, takingServers: Set<String>,
        in store: any LocalTransaction
    ) throws -> RebaseOutcome {
        let id = object.operation.id
        if serverState.item == nil, object.operation.kind != .delete {
            try store.makeInsert(id)
            return .pending
        }
        let coder = context.coder(of: try context.settings(of: object.operation.table))
        return try store.rebase(id, onto: stored, takingServers: takingServers, rounding: coder.rounding)
    }

    func carryOut(
        _ verdict: ConflictVerdict, facts: ConflictFacts, serverState: ServerState, object: OutgoingObject,
        in store: any LocalTransaction
    ) throws -> Step {
        let id = object.operation.id
        let coder = context.coder(of: try context.settings(of: object.operation.table))
        let stored = try Self.decode(facts.item, serverState: serverState, object: object, coder: coder)
        do {
            switch verdict {
            case .nothing:
                // The item comes from our own write, whose response was lost.
                let item = serverState.item == nil ? nil : stored
                let released = try [true, false].map { isOver in
                    try options.deletesFiles ? store.filesReleased(by: id, for: item, isOver: isOver) : []
                }
                let outcome = try follow(serverState, stored: stored, object: object, takingServers: [], in: store)
                try store.addUnwanted(released[outcome == .adopted ? 0 : 1])
                return next(after: outcome, of: id)
            case .ours(let names):
                let outcome = try follow(serverState, stored: stored, object: object, takingServers: names, in: store)
                let lost = lostEdit(facts.sides.local.filter { names.contains($0.key) }, facts: facts, item: stored)
                state.withLock { state in
                    state.queue[id]?.isMerged = true
                    state.queue[id]?.addLostEdit(lost)
                }
                return next(after: outcome, of: id)
            case .written(let values):
                _ = try follow(serverState, stored: stored, object: object, takingServers: [], in: store)
                state.withLock { $0.queue[id]?.isMerged = true }
                return next(after: try write(values, object: object, in: store), of: id)
            case .theirs:
                let values = try store.discard(id, for: stored)
                return .dropEdit(lostEdit(values, facts: facts, item: stored))
            case .later(let code, let message):
                let error = SyncError(
                    code, message: message, advice: "Let the user choose.", table: coder.table.rawValue,
                    url: coder.url, status: serverState.status)
                return try report(error, item: stored, id: id, serverState: serverState, in: store)
            }
        } catch let problem as TandemError where verdict.isOneStep && problem.isAboutValues {
            let error = SyncError(
                .conflict, message: "The server's side can't be stored here: \(problem.message)",
                advice: problem.advice,
                table: coder.table.rawValue, url: coder.url, status: serverState.status, underlying: problem)
            return try report(error, item: stored, id: id, serverState: serverState, in: store)
        }
    }

    /// - Parameter values: The values that were dropped.
    private func lostEdit(
        _ values: [String: StorageValue], facts: ConflictFacts, item: ServerItem
    ) -> LostEdit {
        LostEdit(
            model: facts.operation.model, localID: facts.operation.localID, serverID: item.serverID, values: values,
            object: facts.sides.local, isDeletedOnServer: item.isDeleted)
    }

    private func report(
        _ error: SyncError, item: ServerItem, id: PendingOperation.ID, serverState: ServerState,
        in store: any LocalTransaction
    ) throws -> Step {
        let problem = operationError(error, keeping: item)
        if let attempt = serverState.attempt {
            let isUnderWay = try store.fail(id, attempt: attempt.number, with: problem, retry: false, retryAt: nil)
            return isUnderWay ? .end(.conflict(error)) : .reread
        }
        try store.fail(id, with: problem, retry: false)
        return .end(.conflict(error))
    }
}

extension ConflictVerdict {
    /// Whether a single call applies the decision and changes nothing if it throws.
    fileprivate var isOneStep: Bool {
        if case .written = self { false } else { true }
    }
}

extension TandemError {
    /// Whether the error is a conflict with other local objects.
    fileprivate var isAboutValues: Bool {
        code == .duplicateValue || code == .duplicateID || code == .deleteDenied
    }
}
