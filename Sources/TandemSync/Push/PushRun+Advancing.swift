import Foundation
import Tandem

extension PushRun {
    /// How far an operation was taken.
    enum Progress: Sendable {
        case over(SyncResult.Outcome)
        /// It is no longer in the queue, as it was collapsed away, or waits there for a file.
        case gone
        /// It waits for another one, and is noted as waiting.
        case parked
    }

    /// What follows from one step.
    enum Next: Sendable {
        case over(SyncResult.Outcome)
        case gone
        /// There is more to send. What becomes of it if the push stops before.
        case again(SyncResult.Outcome)
    }

    /// What a look at an operation has shown.
    private enum Preparation: Sendable {
        case over(SyncResult.Outcome)
        case gone
        case parked
        /// A pull has brought what the server holds: the request would be in vain.
        case met(Encounter)
        case ready(Attempt)
    }

    /// Takes an operation as far as it goes.
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

    /// One exchange. `nil` if there is more to send.
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

    /// Looks at an operation, and notes that it is being sent.
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

    /// What a pull has brought of an operation's object, and it has not met yet: what is about to be undeleted is known
    /// to be deleted.
    func unmet(_ object: OutgoingObject, _ store: any LocalReading) throws -> KeptItem? {
        guard let kept = try store.keptItem(of: object.operation.id) else { return nil }
        // What the model can't read is the server's to compare: the request names the version that it was made on.
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
            // All that it was about has left the model.
            _ = try store.discard(id, for: nil)
            return .over(.done)
        }
        // Where the server writes URLs itself, it may hold more than is known here.
        let removes = !options.serverSetsFileURLs
        if request == .update,
            try (store as? any FileWaiting)?.leaveToFiles(id, removingAdditions: removes) ?? false
        {
            return .gone
        }
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
            // It would not come back as it is: what the server answers could not be told from somebody else's change.
            let error = SyncError(
                .unsendable, problem.message, advice: "Change the value.", table: forms.table.rawValue,
                url: forms.url, property: problem.member, underlying: problem)
            return try refuse(id, error, store)
        }
    }

    /// Leaves an operation to the user, or to a new change, that was not sent.
    private func refuse(
        _ id: Operation.ID, _ error: SyncError, _ store: any LocalWriting
    ) throws -> Preparation {
        try store.fail(id, operationError(error), retry: false)
        return .over(.refused(error))
    }

    // MARK: Order

    /// Whether an operation may go now.
    ///
    /// It is noted as waiting where it has to: whoever asks takes no further step with it then.
    enum Place {
        case parked
        case waiting(LocalID, table: String)
        /// At once, without these references, which would close a circle of objects none of which is there.
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
                // Its own ID is known where it is made here.
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

    /// What has to be settled before an operation can be sent: that is not what its object refers to, if that waits for
    /// another one itself. The object's state says the same.
    private func blocker(
        of operation: Operation, _ store: any LocalReading
    ) throws -> (localID: LocalID, table: String)? {
        guard let (localID, model) = try store.blocker(of: operation.localID, in: operation.table) else { return nil }
        let tables = context.store.models.filter { $0.name == model }.map(\.table)
        return try tables.first { try store.hasObject(localID, in: $0) }.map { (localID, $0) }
    }
}
