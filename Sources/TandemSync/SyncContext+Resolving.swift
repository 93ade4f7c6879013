import Foundation
import Tandem

/// What the user chooses for an operation that the server refused, or that is in conflict. Each choice is one
/// transaction, and needs neither the network nor another sync's end, but where said. While the operation is being sent it
/// is ``SyncError/Code/busy``; one whose process died while it was sent is not.
///
/// A choice names the version of the operation that the user was shown. If the object was changed here since, it throws
/// `TandemError.Code.staleOperation` and changes nothing. What others have changed on the server since is not looked at.
extension SyncContext {
    /// The operations that wait for the user, in the order of the queue, with why. Live: ``failures``.
    ///
    /// - Complexity: One walk over the queue, if it has any.
    public func failedOperations() async throws -> [TableOperationError] {
        try await store.read { try self.failedOperations(in: $0) }
    }

    /// Returns the operations that wait for the user, also in a cancelled task.
    func failedOperationsEvenIfCancelled() async throws -> [TableOperationError] {
        do {
            return try await failedOperations()
        } catch is CancellationError {
            // Only writes run to their end in a cancelled task. This one changes nothing.
            return try await store.write { try self.failedOperations(in: $0) }
        }
    }

    private func failedOperations(in store: any LocalReading) throws -> [TableOperationError] {
        guard try store.countOfOperations(in: .failed) > 0 else { return [] }
        var (failed, last) = ([TableOperationError](), nil as Tandem.Operation.ID?)
        while true {
            let next = try store.operations(after: last, limit: 512)
            for operation in next where operation.state == .failed {
                let item = try serverSide(of: operation, store)
                failed.append(
                    TableOperationError(
                        operation: operation, serverValues: item?.values, isDeletedOnServer: item?.isDeleted ?? false))
            }
            guard next.count == 512, let end = next.last?.id else { return failed }
            last = end
        }
    }

    /// The two sides of an operation that waits for the user, as objects that can be shown beside each other.
    ///
    /// For example:
    ///
    /// ```swift
    /// for failed in try await sync.failedOperations() where failed.isConflict {
    ///     guard let conflict = try await sync.conflict(of: failed.id, on: Card.self) else { continue }
    ///     print("here:", conflict.local?.points as Any, "there:", conflict.server?.points as Any)
    /// }
    /// ```
    ///
    /// - Returns: `nil` if nothing is known of the server's side, as where the server refused the operation for another
    ///   reason, and if the operation is on another model's object.
    /// - Throws: `TandemError.Code.staleOperation` if it is no longer in the queue; `.corrupt` if what the server holds
    ///   makes no object.
    public func conflict<M: Model>(of id: Tandem.Operation.ID, on model: M.Type) async throws -> Conflict<M>? {
        try await choosing(about: id) { operation, store in
            guard operation.table == M.__definition.table else { return nil }
            return try self.conflict(operation, on: M.self, store)
        }
    }

    /// Returns the conflicts of all models that wait for the user, in the order of the queue.
    ///
    /// For example:
    ///
    /// ```swift
    /// for conflict in try await sync.conflicts() {
    ///     print(conflict.model, "here:", conflict.local as Any, "there:", conflict.server as Any)
    /// }
    /// ```
    ///
    /// - Throws: `TandemError.Code.corrupt` if what the server holds makes no object.
    public func conflicts() async throws -> [AnyConflict] {
        let failed = try await failedOperations().filter(\.isConflict)
        return try await store.write { store in
            try failed.compactMap { failed in
                // Skip an operation that was resent or changed since it was listed.
                guard let operation = try store.operation(withID: failed.id), operation.version == failed.version,
                    operation.state == .failed
                else { return nil }
                func conflict<M: Model>(on model: M.Type) throws -> AnyConflict? {
                    try self.conflict(operation, on: model, store).map { AnyConflict($0) }
                }
                return try conflict(on: try self.settings(of: operation.table).model.type)
            }
        }
    }

    private func conflict<M: Model>(
        _ operation: Tandem.Operation, on model: M.Type, _ store: any LocalWriting
    ) throws -> Conflict<M>? {
        guard let item = try serverSide(of: operation, store) else { return nil }
        let forms = try forms(of: settings(of: operation.table))
        let sides = try store.sides(of: operation.id, against: item, rounding: forms.rounding)
        return try Conflict(
            operation, sides, serverID: item.serverID, version: item.version, updatedAt: item.updatedAt, round: 1)
    }

    /// Sends an operation again that failed or is held.
    ///
    /// - Throws: `TandemError.Code.staleOperation` if it was changed since, or is no longer in the queue.
    public func retry(_ shown: Tandem.Operation.Version) async throws {
        try await store.write { store in
            _ = try Self.current(shown, store)
            try store.release(shown.id)
        }
    }

    /// Has what is here sent over what the server holds; what only the server has changed is taken from it. An object
    /// that the server has deleted is brought back there.
    ///
    /// - Throws: `TandemError.Code.staleOperation` if it was changed since, or is no longer in the queue;
    ///   `.duplicateValue` if another object here has a unique value of the server's side.
    public func keepMine(_ shown: Tandem.Operation.Version) async throws {
        let id = shown.id
        try await choosing(shown) { operation, store in
            guard let item = try self.serverSide(of: operation, store) else { return try store.release(id) }
            let settings = try self.settings(of: operation.table)
            if item.isDeleted, !settings.features.softDelete, operation.kind != .delete {
                return try store.makeInsert(id)
            }
            _ = try store.rebase(
                id, onto: item, takingServers: [], rounding: self.forms(of: settings).rounding)
        }
    }

    /// Makes the object what the server holds, and gives the operation up. Asks the server where nothing is known of its
    /// side: that is a sync of its own.
    ///
    /// - Returns: What is lost: the values that were not sent, by the properties' names in Swift, as they were stored.
    /// - Throws: `TandemError.Code.staleOperation` if it was changed since, or is no longer in the queue; `.duplicateValue` if another object
    ///   here has a unique value of the server's side. Where the server was asked ``SyncError``, if it did not answer,
    ///   if the object was changed meanwhile, and what keeps a sync from beginning; `CancellationError` if the task was
    ///   cancelled.
    @discardableResult
    public func takeServers(_ shown: Tandem.Operation.Version) async throws -> [String: StorageValue] {
        if case .lost(let values) = try await takeKnown(shown) { return values }
        return try await exclusively {
            // The sync that was waited for may have brought it, or have sent the operation.
            let taking = try await store.write { store in
                _ = try Self.current(shown, store)
                return try self.takeKnown(self.waiting(shown.id, store, isAlone: true), store)
            }
            switch taking {
            case .lost(let values): return values
            case .unknown(let object): return try await takeAsked(object)
            }
        }
    }

    /// What became of taking the server's side, as far as it is known.
    private enum Taking: Sendable {
        case lost([String: StorageValue])
        /// The server is to be asked about the object.
        case unknown(OutgoingObject)
    }

    private func takeKnown(_ shown: Tandem.Operation.Version) async throws -> Taking {
        try await choosing(shown) { try self.takeKnown($0, $1) }
    }

    private func takeKnown(_ operation: Tandem.Operation, _ store: any LocalWriting) throws -> Taking {
        let id = operation.id
        if let item = try serverSide(of: operation, store) { return .lost(try store.discard(id, for: item)) }
        guard let object = try store.outgoing(id) else { throw Self.gone(id) }
        return .unknown(object)
    }

    private func takeAsked(_ object: OutgoingObject) async throws -> [String: StorageValue] {
        let (id, item) = (object.operation.id, try await found(object))
        return try await store.write { store in
            // This is a sync of its own: nothing is being sent.
            _ = try Self.current(object.operation.version, store)
            return try store.discard(id, for: item)
        }
    }

    /// Gives an operation up: an insert's object goes, an update's returns to what the server last sent, and a delete's
    /// comes back. Where the server is known to hold something else by now, the object becomes that.
    ///
    /// - Returns: What is lost: the values that were not sent, by the properties' names in Swift, as they were stored;
    ///   all of an insert's.
    /// - Throws: `TandemError.Code.staleOperation` if it was changed since, or is no longer in the queue; `.duplicateValue` if another object
    ///   here has a unique value of what the object would become.
    @discardableResult
    public func discard(_ shown: Tandem.Operation.Version) async throws -> [String: StorageValue] {
        try await choosing(shown) { operation, store in
            try store.discard(shown.id, for: try self.serverSide(of: operation, store))
        }
    }

    /// Leaves an operation unsent until it is retried, whatever changes meanwhile.
    ///
    /// - Throws: `TandemError.Code.staleOperation` if it is no longer in the queue.
    public func hold(_ id: Tandem.Operation.ID) async throws {
        try await store.write { try $0.hold(id) }
    }

    // MARK: -

    /// Makes a choice about an operation, in one transaction.
    private func choosing<T: Sendable>(
        _ shown: Tandem.Operation.Version,
        _ body: @escaping @Sendable (Tandem.Operation, any LocalWriting) throws -> T
    ) async throws -> T {
        try await choosing(about: shown.id) { operation, store in
            _ = try Self.current(shown, store)
            return try body(operation, store)
        }
    }

    /// The same about an operation as it is now.
    private func choosing<T: Sendable>(
        about id: Tandem.Operation.ID,
        _ body: @escaping @Sendable (Tandem.Operation, any LocalWriting) throws -> T
    ) async throws -> T {
        do {
            return try await store.write { try body(try self.waiting(id, $0), $0) }
        } catch let error as SyncError where error.code == .busy {
            // Where its process has died before the answer came, it looks for ever as if it were being sent.
            let result = try await unlessSyncing {
                try await store.write { try body(try self.waiting(id, $0, isAlone: true), $0) }
            }
            guard let result else { throw error }
            return result
        }
    }

    /// An operation that a choice can be made about.
    ///
    /// - Parameter isAlone: Whether nothing is being sent, whatever it looks like.
    private func waiting(
        _ id: Tandem.Operation.ID, _ store: any LocalReading, isAlone: Bool = false
    ) throws -> Tandem.Operation {
        guard let operation = try store.operation(withID: id) else { throw Self.gone(id) }
        // An attempt with an error has ended without an answer.
        guard operation.state != .attempted || operation.error != nil || isAlone else {
            throw SyncError(
                .busy, "The operation is being sent.", advice: "Choose when its answer has come.",
                table: operation.table)
        }
        return operation
    }

    /// The operation that the user was shown.
    private static func current(
        _ shown: Tandem.Operation.Version, _ store: any LocalReading
    ) throws -> Tandem.Operation {
        guard let operation = try store.operation(withID: shown.id) else { throw gone(shown.id) }
        guard operation.version == shown else {
            throw TandemError(
                .staleOperation, "The object was changed after the operation \(shown.id) was shown.",
                advice: "Show it again, and let the user choose.", model: operation.model,
                localID: operation.localID)
        }
        return operation
    }

    private static func gone(_ id: Tandem.Operation.ID) -> TandemError {
        TandemError(
            .staleOperation, "The operation \(id) is no longer in the queue.", advice: "Look at the queue again.")
    }

    /// What is known of the server's side: what a pull has brought, or the answer that the operation failed with.
    private func serverSide(of operation: Tandem.Operation, _ store: any LocalReading) throws -> ServerItem? {
        let forms = try forms(of: settings(of: operation.table))
        let answer = operation.error?.serverItem.flatMap { ItemForms.item(from: Array($0)) }
        if let kept = try store.keptItem(of: operation.id) {
            // The tombstone that the operation was made on was known before it was sent.
            let version = try store.object(operation.localID, in: operation.table)?.version
            let isOlder = answer != nil && kept.isDeleted && kept.version != nil && kept.version == version
            // What the model can't read any more can't be taken either.
            if !isOlder { return try? forms.stored(kept) }
        }
        return answer.flatMap { try? forms.stored($0) }
    }

    /// What the server holds of an object, asked now; a tombstone if nothing.
    private func found(_ object: OutgoingObject) async throws -> ServerItem? {
        let settings = try settings(of: object.operation.table)
        let forms = forms(of: settings)
        guard let key = Attempt.key(of: object, settings) else { return nil }
        try await waitOutPause(for: forms)
        do {
            if let item = try await remote.find(forms.table, key) { return try forms.stored(item) }
        } catch let failure as RemoteFailure {
            throw thrown(for: failure, forms)
        } catch let problem as UnreadableValue {
            throw SyncError(problem, forms)
        }
        return object.serverID.map { ServerItem(serverID: $0, isDeleted: true) }
    }
}
