import Foundation
import Tandem

/// What the user chooses for an operation that the server refused, or that is in conflict. Each choice is one
/// transaction, and needs no network but where said.
extension SyncContext {
    /// The operations that wait for the user, in the order of the queue.
    public func failedOperations() async throws -> [TableOperationError] {
        try await store.read { store in
            var (failed, last) = ([TableOperationError](), nil as Tandem.Operation.ID?)
            while true {
                let next = try store.operations(after: last, limit: 512)
                for operation in next where operation.state == .failed {
                    let item = try self.serverSide(of: operation, store)
                    failed.append(
                        TableOperationError(
                            operation: operation, serverValues: item?.values,
                            isDeletedOnServer: item?.isDeleted ?? false))
                }
                guard next.count == 512, let end = next.last?.id else { return failed }
                last = end
            }
        }
    }

    /// Sends an operation again that failed or is held.
    ///
    /// - Throws: `TandemError.Code.staleOperation` if it is no longer in the queue.
    public func retry(_ id: Tandem.Operation.ID) async throws {
        try await store.write { try $0.release(id) }
    }

    /// Has what is here sent over what the server holds; what only the server has changed is taken from it. An object
    /// that the server has deleted is brought back there.
    ///
    /// - Throws: `TandemError.Code.staleOperation` if it is no longer in the queue; `.duplicateValue` if another object
    ///   here has a unique value of the server's side.
    public func keepMine(_ id: Tandem.Operation.ID) async throws {
        try await store.write { store in
            let operation = try self.waiting(id, store)
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
    /// side.
    ///
    /// - Returns: What is lost: the values that were not sent, by the properties' names in Swift, as they were stored.
    /// - Throws: `TandemError.Code.staleOperation` if it is no longer in the queue; `.duplicateValue` if another object
    ///   here has a unique value of the server's side. ``SyncError`` where the server was asked and did not answer.
    @discardableResult
    public func takeServers(_ id: Tandem.Operation.ID) async throws -> [String: StorageValue] {
        let (known, object) = try await store.write { store in
            let operation = try self.waiting(id, store)
            return (try self.serverSide(of: operation, store), try store.outgoing(id))
        }
        var item = known
        if item == nil, let object { item = try await found(object) }
        let theirs = item
        return try await store.write { store in
            _ = try self.waiting(id, store)
            return try store.discard(id, for: theirs)
        }
    }

    /// Gives an operation up: an insert's object goes, an update's returns to what the server last sent, and a delete's
    /// comes back. Where the server is known to hold something else by now, the object becomes that.
    ///
    /// - Returns: What is lost: the values that were not sent, by the properties' names in Swift, as they were stored;
    ///   all of an insert's.
    /// - Throws: `TandemError.Code.staleOperation` if it is no longer in the queue; `.duplicateValue` if another object
    ///   here has a unique value of what the object would become.
    @discardableResult
    public func discard(_ id: Tandem.Operation.ID) async throws -> [String: StorageValue] {
        try await store.write { store in
            let operation = try self.waiting(id, store)
            return try store.discard(id, for: try self.serverSide(of: operation, store))
        }
    }

    /// Leaves an operation unsent until it is retried, whatever changes meanwhile.
    ///
    /// - Throws: `TandemError.Code.staleOperation` if it is no longer in the queue.
    public func hold(_ id: Tandem.Operation.ID) async throws {
        try await store.write { try $0.hold(id) }
    }

    // MARK: -

    /// An operation that a choice can be made about.
    private func waiting(_ id: Tandem.Operation.ID, _ store: any LocalReading) throws -> Tandem.Operation {
        guard let operation = try store.operation(withID: id) else {
            throw TandemError(
                .staleOperation, "The operation \(id) is no longer in the queue.", advice: "Look at the queue again.")
        }
        // An attempt with an error has ended without an answer.
        guard operation.state != .attempted || operation.error != nil else {
            throw SyncError(
                .busy, "The operation is being sent.", advice: "Choose when its answer has come.",
                table: operation.table)
        }
        return operation
    }

    /// What is known of the server's side: what a pull has brought, or the answer that the operation failed with.
    private func serverSide(of operation: Tandem.Operation, _ store: any LocalReading) throws -> ServerItem? {
        let source = try store.keptItem(of: operation.id)?.source ?? operation.error?.serverItem.map { Array($0) }
        guard let source, let item = ItemForms.item(from: source) else { return nil }
        // What the model can't read any more can't be taken either.
        return try? forms(of: settings(of: operation.table)).stored(item)
    }

    /// What the server holds of an object, asked now; a tombstone if nothing.
    private func found(_ object: OutgoingObject) async throws -> ServerItem? {
        let settings = try settings(of: object.operation.table)
        let forms = forms(of: settings)
        guard let key = Attempt.key(of: object, settings) else { return nil }
        do {
            if let item = try await remote.find(forms.table, key) { return try forms.stored(item) }
        } catch let failure as RemoteFailure {
            throw SyncError(failure, table: forms.table)
        } catch let problem as UnreadableValue {
            throw SyncError(problem, table: forms.table)
        }
        return object.serverID.map { ServerItem(serverID: $0, isDeleted: true) }
    }
}
