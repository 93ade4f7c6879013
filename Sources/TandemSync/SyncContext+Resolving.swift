import Foundation
import Tandem

/// The user's decisions about an operation that the server refused, or that is in conflict. Each decision is one
/// transaction. Unless stated otherwise, it needs no network and does not wait for another sync. While the operation is
/// being sent, all decisions except `retry` and `hold` throw ``SyncError/Code/busy``. They do not if the process that
/// sent the operation has died.
///
/// Each decision except `hold` names the version of the operation that the user saw. If the object was changed here
/// since, the method throws `TandemError.Code.staleOperation` and changes nothing. It does not check for later changes
/// on the server.
extension SyncContext {
    /// Returns the operations that wait for the user, with their errors, in the order of the queue. For live values:
    /// ``failures``.
    ///
    /// - Throws: `TandemError` if the store can't be read.
    /// - Complexity: A single pass over the queue, if any operation failed.
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

    private func failedOperations(in store: any LocalReadTransaction) throws -> [TableOperationError] {
        guard try store.countOfOperations(in: .failed) > 0 else { return [] }
        var (failed, last) = ([TableOperationError](), nil as PendingOperation.ID?)
        while true {
            let next = try store.operations(after: last, limit: 512)
            for operation in next where operation.state == .failed {
                let item = try serverSide(of: operation, in: store)
                failed.append(
                    TableOperationError(
                        operation: operation, serverValues: item?.values, isDeletedOnServer: item?.isDeleted ?? false))
            }
            guard next.count == 512, let end = next.last?.id else { return failed }
            last = end
        }
    }

    /// Returns the two sides of an operation that waits for the user, as typed objects.
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
    /// - Parameters:
    ///   - id: The operation's ID in the queue.
    ///   - model: The model of its object.
    /// - Returns: `nil` if the server's side is not known, for example because the server refused the operation for
    ///   another reason. Also `nil` if the operation's object belongs to another model.
    /// - Throws: `TandemError.Code.staleOperation` if it is no longer in the queue; `.corrupt` if the server's values
    ///   are not a valid object.
    public func conflict<M: Model>(of id: PendingOperation.ID, on model: M.Type) async throws -> Conflict<M>? {
        try await choosing(about: id) { operation, store in
            guard operation.table == M.__definition.table else { return nil }
            return try self.conflict(operation, on: M.self, in: store)
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
    /// - Throws: `TandemError.Code.corrupt` if the server's values are not a valid object.
    public func conflicts() async throws -> [AnyConflict] {
        let failed = try await failedOperations().filter(\.isConflict)
        return try await store.write { store in
            try failed.compactMap { failed in
                // Skip an operation that was resent or changed since it was listed.
                guard let operation = try store.operation(withID: failed.id), operation.version == failed.version,
                    operation.state == .failed
                else { return nil }
                func conflict<M: Model>(on model: M.Type) throws -> AnyConflict? {
                    try self.conflict(operation, on: model, in: store).map { AnyConflict($0) }
                }
                guard let model = try self.settings(of: operation.table).model.type else { return nil }
                return try conflict(on: model)
            }
        }
    }

    private func conflict<M: Model>(
        _ operation: PendingOperation, on model: M.Type, in store: any LocalTransaction
    ) throws -> Conflict<M>? {
        guard let item = try serverSide(of: operation, in: store) else { return nil }
        let coder = try coder(of: settings(of: operation.table))
        let sides = try store.sides(of: operation.id, against: item, rounding: coder.rounding)
        return try Conflict(
            operation, sides: sides, serverID: item.serverID, version: item.version, updatedAt: item.updatedAt, round: 1
        )
    }

    /// Resends an operation that failed or is held.
    ///
    /// - Parameter shown: The version of the operation that the user has seen.
    /// - Throws: `TandemError.Code.staleOperation` if it was changed since, or is no longer in the queue.
    public func retry(_ shown: PendingOperation.Version) async throws {
        try await store.write { store in
            _ = try Self.current(shown, in: store)
            try store.release(shown.id)
        }
    }

    /// Sends the local changes over the server's values. Properties that only the server changed get its values. An
    /// object that the server deleted is undeleted there.
    ///
    /// - Parameter shown: The version of the operation that the user has seen.
    /// - Throws: `TandemError.Code.staleOperation` if it was changed since, or is no longer in the queue;
    ///   `.duplicateValue` if another local object has a unique value of the server's side.
    public func keepMine(_ shown: PendingOperation.Version) async throws {
        let id = shown.id
        try await choosing(shown) { operation, store in
            guard let item = try self.serverSide(of: operation, in: store) else { return try store.release(id) }
            let settings = try self.settings(of: operation.table)
            if item.isDeleted, !settings.features.softDelete, operation.kind != .delete {
                return try store.makeInsert(id)
            }
            _ = try store.rebase(
                id, onto: item, takingServers: [], rounding: self.coder(of: settings).rounding)
        }
    }

    /// Replaces the object with the server's values, and drops the operation. If the server's side is not known, the
    /// method requests it, in a sync of its own.
    ///
    /// - Parameter shown: The version of the operation that the user has seen.
    /// - Returns: The lost values that were not sent, by the properties' names in Swift, as they were stored.
    /// - Throws: `TandemError.Code.staleOperation` if it was changed since, or is no longer in the queue;
    ///   `.duplicateValue` if another local object has a unique value of the server's side. If the item was
    ///   requested: ``SyncError`` if there was no valid response, if the object was changed meanwhile, or if the sync
    ///   could not begin; `CancellationError` if the task was cancelled.
    @discardableResult
    public func takeServers(_ shown: PendingOperation.Version) async throws -> [String: StorageValue] {
        if let lost = try await choosing(shown, body: { try self.discardForKnown($0, in: $1) }) { return lost }
        return try await withExclusiveSync {
            // The previous sync may have fetched the item, or sent the operation.
            let (lost, object) = try await store.write { store in
                _ = try Self.current(shown, in: store)
                let operation = try self.waiting(shown.id, in: store, isAlone: true)
                let lost = try self.discardForKnown(operation, in: store)
                return (lost, lost == nil ? try store.outgoing(shown.id) : nil)
            }
            if let lost { return lost }
            guard let object else { throw Self.gone(shown.id) }
            return try await discardForFetched(object)
        }
    }

    /// Discards an operation for the server's side. Returns `nil` if that is not known.
    private func discardForKnown(
        _ operation: PendingOperation, in store: any LocalTransaction
    ) throws -> [String: StorageValue]? {
        guard let item = try serverSide(of: operation, in: store) else { return nil }
        return try store.discard(operation.id, for: item)
    }

    private func discardForFetched(_ object: OutgoingObject) async throws -> [String: StorageValue] {
        let (id, item) = (object.operation.id, try await found(object))
        return try await store.write { store in
            // This sync has exclusive access, so nothing is being sent.
            _ = try Self.current(object.operation.version, in: store)
            return try store.discard(id, for: item)
        }
    }

    /// Drops an operation.
    ///
    /// The object of an insert is removed. An update reverts to the server's last values. A deleted object is restored.
    /// If newer values of the server are known, the object gets those.
    ///
    /// - Parameter shown: The version of the operation that the user has seen.
    /// - Returns: The lost values that were not sent, by the properties' names in Swift, as they were stored; all
    ///   values of an insert.
    /// - Throws: `TandemError.Code.staleOperation` if it was changed since, or is no longer in the queue;
    ///   `.duplicateValue` if another local object has a unique value of the restored object.
    @discardableResult
    public func discard(_ shown: PendingOperation.Version) async throws -> [String: StorageValue] {
        try await choosing(shown) { operation, store in
            try store.discard(shown.id, for: try self.serverSide(of: operation, in: store))
        }
    }

    /// Holds an operation back until it is retried, even if the object changes meanwhile.
    ///
    /// - Parameter id: The operation's ID in the queue.
    /// - Throws: `TandemError.Code.staleOperation` if it is no longer in the queue.
    public func hold(_ id: PendingOperation.ID) async throws {
        try await store.write { try $0.hold(id) }
    }

    // MARK: -

    /// Applies a decision about an operation, in one transaction.
    func choosing<T: Sendable>(
        _ shown: PendingOperation.Version,
        body: @escaping @Sendable (PendingOperation, any LocalTransaction) throws -> T
    ) async throws -> T {
        try await choosing(about: shown.id) { operation, store in
            _ = try Self.current(shown, in: store)
            return try body(operation, store)
        }
    }

    /// Applies a decision about the current version of an operation.
    private func choosing<T: Sendable>(
        about id: PendingOperation.ID,
        body: @escaping @Sendable (PendingOperation, any LocalTransaction) throws -> T
    ) async throws -> T {
        do {
            return try await store.write { try body(try self.waiting(id, in: $0), $0) }
        } catch let error as SyncError where error.code == .busy {
            // If the process died before the response, the operation stays marked as being sent.
            let result = try await ifIdle {
                try await store.write { try body(try self.waiting(id, in: $0, isAlone: true), $0) }
            }
            guard let result else { throw error }
            return result
        }
    }

    /// Returns an operation that can be decided about.
    ///
    /// - Parameter isAlone: Whether the caller knows that nothing is being sent, even if an operation is marked so.
    private func waiting(
        _ id: PendingOperation.ID, in store: any LocalReadTransaction, isAlone: Bool = false
    ) throws -> PendingOperation {
        guard let operation = try store.operation(withID: id) else { throw Self.gone(id) }
        // An attempt with an error has ended without a response.
        guard operation.state != .attempted || operation.error != nil || isAlone else {
            throw SyncError(
                .busy, message: "The operation is being sent.", advice: "Decide after its response has arrived.",
                table: operation.table)
        }
        return operation
    }

    /// Returns the operation, if it still has the version that the user saw.
    private static func current(
        _ shown: PendingOperation.Version, in store: any LocalReadTransaction
    ) throws -> PendingOperation {
        guard let operation = try store.operation(withID: shown.id) else { throw gone(shown.id) }
        guard operation.version == shown else {
            throw TandemError(
                .staleOperation, message: "The object was changed after the operation \(shown.id) was shown.",
                advice: "Show it again, and let the user choose.", model: operation.model,
                localID: operation.localID)
        }
        return operation
    }

    private static func gone(_ id: PendingOperation.ID) -> TandemError {
        TandemError(
            .staleOperation, message: "The operation \(id) is no longer in the queue.",
            advice: "Read the queue again.")
    }

    /// Returns the known server side of an operation: the item of a pull, or the response with which the operation
    /// failed.
    func serverSide(of operation: PendingOperation, in store: any LocalReadTransaction) throws -> ServerItem? {
        let coder = try coder(of: settings(of: operation.table))
        let response = operation.error?.serverItem.flatMap { ItemCoder.item(from: Array($0)) }
        if let kept = try store.deferredItem(of: operation.id) {
            // The tombstone that the operation was made on was known before it was sent.
            let version = try store.object(operation.localID, in: operation.table)?.version
            let isOlder = response != nil && kept.isDeleted && kept.version != nil && kept.version == version
            // An item that the model can no longer read can't be applied.
            if !isOlder { return try? coder.decode(kept) }
        }
        return response.flatMap { try? coder.decode($0) }
    }

    /// Requests the server's item of an object; returns a tombstone if there is none.
    private func found(_ object: OutgoingObject) async throws -> ServerItem? {
        let settings = try settings(of: object.operation.table)
        let coder = coder(of: settings)
        guard let key = Attempt.key(of: object, settings: settings) else { return nil }
        try await waitOutPause(for: coder)
        do {
            if let item = try await remote.find(coder.table, key: key) { return try coder.decode(item) }
        } catch let failure as RemoteFailure {
            throw thrown(for: failure, coder: coder)
        } catch let problem as UnreadableValue {
            throw SyncError(problem, coder: coder)
        }
        return object.serverID.map { ServerItem(serverID: $0, isDeleted: true) }
    }
}
