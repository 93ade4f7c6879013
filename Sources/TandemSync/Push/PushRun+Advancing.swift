import Foundation
import Tandem

extension PushRun {
    /// The progress of an operation.
    enum Progress: Sendable {
        case over(SyncResult.Outcome)
        /// The operation was collapsed away, or waits in the queue for a file.
        case gone
        /// The operation is parked behind another one.
        case parked
    }

    /// The result of a step.
    enum Next: Sendable {
        case over(SyncResult.Outcome)
        case gone
        /// There is more to send. The value is the outcome if the push stops before.
        case again(SyncResult.Outcome)
    }

    /// The result of preparing an operation.
    private enum Preparation: Sendable {
        case over(SyncResult.Outcome)
        case gone
        case parked
        /// A pull already fetched a newer version; sending the request would only conflict.
        case met(Encounter)
        case ready(Attempt)
    }

    /// Processes an operation as far as possible.
    func advance(_ id: Operation.ID) async throws -> Progress {
        while true {
            try await waitOutPause()
            guard let unfinished = state.withLock({ $0.stop == nil ? nil : $0.queue[id]?.unfinished ?? .notReached })
            else {
                switch try await takeStep(id) {
                case .parked: return .parked
                case .over(let outcome): return .over(outcome)
                case .gone: return .gone
                case nil: continue
                }
            }
            return .over(unfinished)
        }
    }

    /// Runs a single exchange. Returns `nil` if there is more to send.
    private func takeStep(_ id: Operation.ID) async throws -> Progress? {
        try Task.checkCancellation()
        if let progress = try await askApp(id) { return progress }
        let next: Next
        switch try await prepare(id) {
        case .over(let outcome): return .over(outcome)
        case .gone: return .gone
        case .parked: return .parked
        case .met(let encounter): next = try await meet(encounter, id)
        case .ready(let attempt):
            try await step(.began(id))
            let reply = await Exchange(
                attempt: attempt, remote: context.remote, clock: options.clock, serverClock: context.serverClock
            ).reply()
            try await step(.answered(id))
            next = try await conclude(attempt, reply)
            try await step(.concluded(id))
        }
        switch next {
        case .over(let outcome): return .over(outcome)
        case .gone: return .gone
        case .again(let unfinished):
            state.withLock { $0.queue[id]?.unfinished = unfinished }
            return nil
        }
    }

    // MARK: Before a request

    /// Reads an operation, and marks it as being sent.
    private func prepare(_ id: Operation.ID) async throws -> Preparation {
        try await store.write { store in
            guard let object = try store.outgoing(id) else { return .gone }
            switch object.operation.state {
            case .held: return .over(.held)
            case .failed: return .over(.stillPending)
            case .pending, .attempted: break
            }
            let settings = try self.context.settings(of: object.operation.table)
            var leavingOut: Set<String> = []
            switch try self.place(of: object, settings, store) {
            case .parked: return .parked
            case .waiting(let localID, let table): return .over(.waiting(for: localID, table: table))
            case .free(let names): leavingOut = names
            }
            if let kept = try self.unmet(object, store), let item = ItemForms.item(from: kept.source) {
                return .met(Encounter(item: item, kept: kept.source))
            }
            return try self.begin(object, settings, leavingOut, store)
        }
    }

    /// Returns a deferred item of an operation's object that was not merged yet. Before an undelete, the tombstone is
    /// already known.
    func unmet(_ object: OutgoingObject, _ store: any LocalReading) throws -> KeptItem? {
        guard let kept = try store.keptItem(of: object.operation.id) else { return nil }
        // The server compares an item that the model can't decode: the request names the version that it is based on.
        if kept.reason == .refused, !kept.isDeleted, let item = ItemForms.item(from: kept.source),
            let settings = try? context.settings(of: object.operation.table),
            (try? context.forms(of: settings).stored(item)) == nil
        {
            return nil
        }
        return kept.isDeleted && object.attemptedKinds.contains(.delete) ? nil : kept
    }

    private func begin(
        _ object: OutgoingObject, _ settings: TableSettings, _ leavingOut: Set<String>, _ store: any LocalWriting
    ) throws -> Preparation {
        let (id, request) = (object.operation.id, Attempt.request(for: object))
        let forms = context.forms(of: settings)
        if request == .update && object.changed.isEmpty {
            // All properties of the operation were removed from the model.
            _ = try store.discard(id, for: nil)
            return .over(.done)
        }
        // A server that sets URLs itself may have more values than are known here.
        let removes = !options.serverSetsFileURLs
        if request == .update, try store.leaveToFiles(id, removingAdditions: removes) { return .gone }
        do {
            let item = try Attempt.item(request, of: object, settings, forms, leavingOut: leavingOut)
            let operation = try store.beginAttempt(id, leavingOut: leavingOut, rounding: forms.rounding)
            if !leavingOut.isEmpty { state.withLock { $0.queue[id]?.hasLeftOut = true } }
            return .ready(
                Attempt(
                    id: id, number: operation.attempts, request: request, item: item, settings: settings,
                    mayBeThere: object.attemptedKinds.contains(.insert), key: Attempt.key(of: object, settings)))
        } catch let problem as Unsendable {
            return try refuse(id, SyncError(.unsendable(problem), table: forms.table, url: forms.url), store)
        } catch let problem as UnreadableValue {
            // The value would not round-trip, and the response could not be distinguished from another client's change.
            let error = SyncError(
                .unsendable, problem.message, advice: "Change the value.", table: forms.table.rawValue,
                url: forms.url, property: problem.member, underlying: problem)
            return try refuse(id, error, store)
        }
    }

    /// Leaves an unsent operation to the user, or to a new change.
    private func refuse(
        _ id: Operation.ID, _ error: SyncError, _ store: any LocalWriting
    ) throws -> Preparation {
        try store.fail(id, operationError(error), retry: false)
        return .over(.refused(error))
    }

    // MARK: Order

    /// The place of an operation in the order.
    ///
    /// An operation that must wait is already parked; the caller then stops processing it.
    enum Place {
        case parked
        case waiting(LocalID, table: String)
        /// The operation may be sent at once, without these references. They would close a cycle of objects that the
        /// server does not have.
        case free(leavingOut: Set<String>)
    }

    /// Finds an operation's place in the order.
    func place(
        of object: OutgoingObject, _ settings: TableSettings, _ store: any LocalWriting
    ) throws -> Place {
        let operation = object.operation
        if operation.kind == .delete {
            let isParked = state.withLock { $0.queue.parkBehindReferrer(operation.id) }
            return isParked ? .parked : .free(leavingOut: [])
        }
        let targets = object.references.compactMap { reference in
            if case .unsent(let target, _) = reference.target, target != operation.id { target } else { nil }
        }
        if targets.count > 1, state.withLock({ $0.queue.park(operation.id, behindLastOf: targets) }) { return .parked }
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
                if let (localID, table) = try blocker(of: operation, store) { return .waiting(localID, table: table) }
                let table = try store.operation(withID: target)?.table ?? operation.table
                return .waiting(reference.localID, table: table)
            }
            guard isCircle else { return .parked }
            closing.insert(reference.property)
        }
        return .free(leavingOut: operation.kind == .insert ? closing : [])
    }

    /// Returns the blocker of an operation. It is not the referenced object if that one waits for another itself. The
    /// object's sync state reports the same blocker.
    private func blocker(
        of operation: Operation, _ store: any LocalReading
    ) throws -> (localID: LocalID, table: String)? {
        guard let (localID, model) = try store.blocker(of: operation.localID, in: operation.table) else { return nil }
        let tables = context.store.models.filter { $0.name == model }.map(\.table)
        return try tables.first { try store.hasObject(localID, in: $0) }.map { (localID, $0) }
    }
}
