import Foundation
import Tandem

extension PushRun {
    /// Carries out the steps of an operation until it ends or waits for another one.
    ///
    /// - Parameters:
    ///   - first: The first step.
    ///   - appliesResponse: Whether the first step applies a response.
    ///   - inBatch: Whether the operation is part of a batch. It then returns to the queue before it is sent again, so
    ///     that it can join another batch.
    /// - Returns: Whether the operation has ended.
    func advance(
        _ id: PendingOperation.ID, from first: Step, appliesResponse firstApplies: Bool, inBatch: Bool
    ) async throws -> Bool {
        var (next, appliesResponse) = (first, firstApplies)
        while true {
            if appliesResponse, next.isConcluded {
                try await step(.concluded(id))
                appliesResponse = false
            }
            switch next {
            case .check: next = try await check(id)
            case .prepare: next = try await prepare(id)
            case .send(let attempt):
                try await step(.began(id))
                guard let responseStep = try await sendAlone(attempt) else { return false }
                next = responseStep
                try await step(.responded(id))
                appliesResponse = true
            case .acknowledge(let attempt, let item): next = try await acknowledge(attempt, item: item)
            case .rebase(let attempt, let item): next = try await follow(attempt, item: item)
            case .resolveConflict(let serverState): next = try await resolveConflict(serverState, id: id)
            case .ask(let facts, let serverState): next = try await ask(facts, serverState: serverState)
            case .markOutcomeUnknown(let attempt, let error): next = try await markOutcomeUnknown(attempt, error: error)
            case .fail(let attempt, let failure, let mayHaveActed):
                next = try await fail(attempt, with: failure, mayHaveActed: mayHaveActed)
            case .reread: next = try await stale(id)
            case .dropEdit(let edit):
                state.withLock { state in
                    state.queue[id]?.addLostEdit(edit)
                    // This outcome holds even if the push stops now.
                    state.queue[id]?.unfinished = .tookServers
                }
                next = .end(.tookServers)
            case .sendRest:
                state.withLock { $0.queue.release(id) }
                next = .retry(unfinished: .stillPending)
            case .retry(let unfinished):
                state.withLock { $0.queue[id]?.unfinished = unfinished }
                if inBatch {
                    state.withLock { $0.queue.giveBack(id) }
                    return false
                }
                next = .check
            case .wait: return false
            case .end(let outcome):
                state.withLock { $0.queue.finish(id, outcome: outcome) }
                return true
            case .skip:
                state.withLock { $0.queue.finish(id, outcome: nil) }
                return true
            }
        }
    }

    /// Returns the exchange with the server for an attempt.
    func sender(of attempt: Attempt) -> AttemptSender {
        AttemptSender(
            attempt: attempt, remote: context.remote, clock: options.clock, serverClock: context.serverClock,
            pause: context.pause)
    }

    /// Waits until requests may be sent, and lets the app check an operation.
    func check(_ id: PendingOperation.ID) async throws -> Step {
        while true {
            try await waitOutPause()
            if let unfinished = state.withLock({ $0.stop == nil ? nil : $0.queue[id]?.unfinished ?? .notReached }) {
                return .end(unfinished)
            }
            try Task.checkCancellation()
            let next = try await askApp(id)
            // The app's check takes time, in which the push may have stopped.
            guard case .prepare = next, isBlocked else { return next }
        }
    }

    // MARK: Before a request

    /// Reads an operation, and marks it as being sent.
    private func prepare(_ id: PendingOperation.ID) async throws -> Step {
        try await store.write { store in
            guard let object = try store.outgoing(id) else { return .skip }
            return try self.prepare(object, in: store)
        }
    }

    /// Marks the operation of an object as being sent.
    func prepare(_ object: OutgoingObject, in store: any LocalTransaction) throws -> Step {
        switch object.operation.state {
        case .held: return .end(.held)
        case .failed: return .end(.stillPending)
        case .pending, .attempted: break
        }
        let settings = try context.settings(of: object.operation.table)
        let (blocked, leavingOut) = try sendOrder(of: object, settings: settings, in: store)
        if let blocked { return blocked }
        if let deferred = try undecided(object, in: store), let item = ItemCoder.item(from: deferred.source) {
            return .resolveConflict(ServerState(item: item, deferredSource: deferred.source))
        }
        return try begin(object, settings: settings, leavingOut: leavingOut, in: store)
    }

    /// Returns a deferred item of an operation's object that was not merged yet. Before an undelete, the tombstone is
    /// already known.
    func undecided(_ object: OutgoingObject, in store: any LocalReadTransaction) throws -> DeferredItem? {
        guard let deferred = try store.deferredItem(of: object.operation.id) else { return nil }
        // The server compares an item that the model can't decode: the request names the version that it is based on.
        if deferred.reason == .refused, !deferred.isDeleted, let item = ItemCoder.item(from: deferred.source),
            let settings = try? context.settings(of: object.operation.table),
            (try? context.coder(of: settings).decode(item)) == nil
        {
            return nil
        }
        return deferred.isDeleted && object.attemptedKinds.contains(.delete) ? nil : deferred
    }

    private func begin(
        _ object: OutgoingObject, settings: TableSettings, leavingOut: Set<String>, in store: any LocalTransaction
    ) throws -> Step {
        let (id, request) = (object.operation.id, Attempt.request(for: object))
        let coder = context.coder(of: settings)
        if request == .update && object.changed.isEmpty {
            // All properties of the operation were removed from the model.
            _ = try store.discard(id, for: nil)
            return .end(.done)
        }
        // A server that sets URLs itself may have more values than are known here.
        let removes = !options.serverSetsFileURLs
        if request == .update, try store.deferToUpload(id, removingAdditions: removes) { return .skip }
        do {
            let encoder = ValueEncoder(coder)
            let item = try Attempt.item(
                request, of: object, settings: settings, coder: coder, leavingOut: leavingOut, encoder: encoder)
            let operation = try store.beginAttempt(object, leavingOut: leavingOut) { property, value in
                try encoder.rounded(value, of: property)
            }
            if !leavingOut.isEmpty { state.withLock { $0.queue[id]?.hasLeftOut = true } }
            return .send(
                Attempt(
                    id: id, number: operation.attempts, request: request, item: item, settings: settings,
                    mayBeThere: object.attemptedKinds.contains(.insert),
                    key: Attempt.key(of: object, settings: settings),
                    earlierError: object.operation.error, earlierRetryAt: object.operation.retryAt))
        } catch let problem as RequestEncodingError {
            return try refuse(
                id, error: SyncError(.notEncodable(problem), table: coder.table, url: coder.url), in: store)
        } catch let problem as UnreadableValue {
            // The value would not round-trip, and the response could not be distinguished from another client's change.
            let error = SyncError(
                .notEncodable, message: problem.message, advice: "Change the value.", table: coder.table.rawValue,
                url: coder.url, property: problem.member, underlying: problem)
            return try refuse(id, error: error, in: store)
        }
    }

    /// Leaves an unsent operation to the user, or to a new change.
    private func refuse(
        _ id: PendingOperation.ID, error: SyncError, in store: any LocalTransaction
    ) throws -> Step {
        try store.fail(id, with: operationError(error), retry: false)
        return .end(.refused(error))
    }

    // MARK: Order

    /// Finds an operation's position in the order.
    ///
    /// - Returns: The step of an operation that can't be sent now. An operation that must wait is already parked. If
    ///   the step is `nil`, the operation may be sent at once, without the references `leavingOut`. They would close a
    ///   cycle of objects that the server does not have.
    func sendOrder(
        of object: OutgoingObject, settings: TableSettings, in store: any LocalTransaction
    ) throws -> (step: Step?, leavingOut: Set<String>) {
        let operation = object.operation
        if operation.kind == .delete {
            let isParked = state.withLock { $0.queue.parkBehindReferrer(operation.id) }
            return (isParked ? .wait : nil, [])
        }
        let targets = object.references.compactMap { reference in
            if case .unsent(let target, _) = reference.target, target != operation.id { target } else { nil }
        }
        if targets.count > 1, state.withLock({ $0.queue.park(operation.id, behindLastOf: targets) }) {
            return (.wait, [])
        }
        var closing: Set<String> = []
        for reference in object.references {
            guard case .unsent(let target, _) = reference.target else { continue }
            if target == operation.id {
                // The object's own ID is known if the client creates it.
                if settings.identity != .client { closing.insert(reference.property) }
                continue
            }
            let (isUnfinished, isCircle) = state.withLock { state in
                let isUnfinished = state.queue.isUnfinished(target)
                let isCircle = state.queue.closesCycle(operation.id, behind: target)
                if isUnfinished && !isCircle { state.queue.park(operation.id, behind: target) }
                return (isUnfinished, isCircle)
            }
            guard isUnfinished else {
                if let (localID, table) = try blocker(of: operation, in: store) {
                    return (.end(.waiting(for: localID, table: table)), [])
                }
                let table = try store.operation(withID: target)?.table ?? operation.table
                return (.end(.waiting(for: reference.localID, table: table)), [])
            }
            guard isCircle else { return (.wait, []) }
            closing.insert(reference.property)
        }
        return (nil, operation.kind == .insert ? closing : [])
    }

    /// Returns the blocker of an operation. It is not the referenced object if that one waits for another itself. The
    /// object's sync state reports the same blocker.
    private func blocker(
        of operation: PendingOperation, in store: any LocalReadTransaction
    ) throws -> (localID: LocalID, table: String)? {
        guard let (localID, model) = try store.blocker(of: operation.localID, in: operation.table) else { return nil }
        let tables = context.store.models.filter { $0.name == model }.map(\.table)
        return try tables.first { try store.hasObject(localID, in: $0) }.map { (localID, $0) }
    }
}
