import Tandem

extension PushRun {
    /// The maximum number of consecutive checks of an operation that is edited meanwhile.
    private static let checkLimit = 3

    /// Lets the app check an operation.
    func askApp(_ id: PendingOperation.ID) async throws -> Step {
        guard let table = state.withLock({ $0.queue[id]?.table }) else { return .skip }
        let settings = try context.settings(of: table)
        guard let check = settings.beforeSend else { return .prepare }
        state.withLock { $0.queue[id]?.checked = nil }
        for _ in 0..<Self.checkLimit {
            let next = try await askOnce(id, settings: settings, check: check)
            if case .check = next { continue }
            return next
        }
        // The last edit was not checked, and is not sent.
        return .end(.stillPending)
    }

    /// Lets the app check an operation. If the object was edited meanwhile, it must be checked again.
    private func askOnce(
        _ id: PendingOperation.ID, settings: TableSettings,
        check: @Sendable (OutgoingObject) async throws -> SendVerdict
    ) async throws -> Step {
        let (found, otherwise) = try await sendable(id, settings: settings)
        guard let object = found else { return otherwise }
        let verdict: SendVerdict
        do {
            verdict = try await check(object)
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            return .end(try await leaveUnsent(id, error: hookError(error, settings: settings)))
        }
        let shown = object.localValues(of: settings.model)
        do {
            return try await store.write { store in
                guard let now = try store.outgoing(id) else { return .skip }
                if case .hold = verdict {
                    try store.hold(id)
                    return .end(.held)
                }
                // Values that the app has not checked are not sent.
                guard now.operation.kind == object.operation.kind, now.localValues(of: settings.model) == shown else {
                    return .check
                }
                switch verdict {
                case .send, .hold: self.recordChecked(now, model: settings.model)
                case .write(let values):
                    self.recordChecked(now, model: settings.model)
                    guard now.operation.kind != .delete, !values.isEmpty else { return .prepare }
                    try store.change(now.operation.localID, in: now.operation.table, to: values)
                    if let written = try store.outgoing(id) { self.recordChecked(written, model: settings.model) }
                }
                return .prepare
            }
        } catch let error as TandemError {
            guard case .write = verdict else { throw error }
            return .end(try await leaveUnsent(id, error: hookError(error, settings: settings)))
        }
    }

    /// Records the values that the app has checked. The app may edit them while it checks the rest of a batch.
    private func recordChecked(_ object: OutgoingObject, model: ModelDefinition) {
        // An operation that goes alone is sent at once.
        guard state.withLock({ ($0.batchLimit ?? 1) > 1 }) else { return }
        let (kind, values) = (object.operation.kind, object.localValues(of: model))
        state.withLock { $0.queue[object.operation.id]?.checked = (kind, values) }
    }

    /// Returns whether an object differs from the one that the app has checked.
    func isUnchecked(_ object: OutgoingObject) throws -> Bool {
        let operation = object.operation
        let checked = state.withLock { state in
            defer { state.queue[operation.id]?.checked = nil }
            return state.queue[operation.id]?.checked
        }
        guard let (kind, values) = checked else { return false }
        return try kind != operation.kind
            || values != object.localValues(of: context.settings(of: operation.table).model)
    }

    /// Returns the object of an operation if it can be sent now, otherwise the next step. A waiting operation is
    /// checked later.
    ///
    /// It has the writer's lock, although it only reads. Otherwise the operation of a referenced object could end after
    /// the read of the object. The referenced object would be unsent in the read transaction, but its operation
    /// finished in the queue. The object would then count as blocked.
    private func sendable(
        _ id: PendingOperation.ID, settings: TableSettings
    ) async throws -> (object: OutgoingObject?, otherwise: Step) {
        try await store.write { store in
            guard let object = try store.outgoing(id), try self.undecided(object, in: store) == nil,
                object.operation.state == .pending || object.operation.state == .attempted
            else { return (nil, .prepare) }
            switch try self.sendOrder(of: object, settings: settings, in: store).step {
            case nil: return (object, .prepare)
            case .wait?: return (nil, .wait)
            default: return (nil, .prepare)
            }
        }
    }

    private func hookError(_ error: any Error, settings: TableSettings) -> SyncError {
        SyncError(
            .hook, message: "The closure of setBeforeSend failed: \(SyncError.words(of: error))",
            table: settings.model.wireName,
            underlying: error)
    }
}
