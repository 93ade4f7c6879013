import Foundation
import Tandem
import TandemSync

extension MemoryTransaction {
    func acknowledge(
        _ id: PendingOperation.ID, attempt: Int, with item: ServerItem?, keepsTombstones: Bool
    ) throws -> ResponseOutcome {
        try checkUsable()
        guard let (operation, object, model) = try underWay(id, attempt: attempt) else { return .stale }
        return try together {
            if operation.sentKind ?? operation.kind == .delete {
                guard operation.kind != .delete else {
                    finishDelete(operation, object)
                    return .done
                }
                // The object was restored during its delete. If it was never acknowledged and leaves no tombstone, the
                // server has no ID to undelete.
                if keepsTombstones && (item != nil || object.serverID != nil) {
                    try makeUndelete(operation, object, over: item, model)
                } else {
                    try resend(operation, object)
                }
                return .stillPending
            }
            guard let item, !item.isDeleted else {
                throw TandemError(
                    .invalidValue, message: "An insert or update was acknowledged without the server's item.",
                    advice: "Request the object from the server.", model: model.definition.name)
            }
            return try acknowledgeChange(operation, object, item, model)
        }
    }

    private func acknowledgeChange(
        _ operation: MemoryOperation, _ object: MemoryObject, _ item: ServerItem, _ model: MemoryModel
    ) throws -> ResponseOutcome {
        var (operation, object) = (operation, object)
        let wasKnown = object.serverID != nil
        // Comes first: a list that names the object itself is resolved by its server ID.
        if object.serverID != item.serverID {
            object = try mergeDuplicate(of: object, withServerID: item.serverID, model)
            object.serverID = item.serverID
            try state.write(object)
            // Changes of the merged object count as changes made during the attempt.
            operation = state.operation(of: object) ?? operation
        }
        var isRefused = false
        do {
            try together {
                try merge(item, &operation, object, model)
                guard var object = state.object(object.key) else { throw stale(operation.id) }
                (object.version, object.updatedAt) = (item.version, item.updatedAt)
                try state.write(object)
            }
        } catch let error as TandemError where error.code == .duplicateValue {
            // The server has carried the change out, so it must not be resent. The version stays that of the values.
            isRefused = true
            deferItem(item, of: object, in: object.table, .refused, message: error.message)
        }
        if var object = state.object(object.key) {
            object.createdAt = item.createdAt ?? object.createdAt
            try state.write(object)
        }
        completeAttempt(operation)
        if !wasKnown && !object.isDeleted {
            try resolveWaiting(for: object.localID, item.serverID, in: object.table)
        }
        if !isRefused { dropDeferred(knowing: item, of: object) }
        return isRefused ? .refusedHere : state.operation(of: object) == nil ? .done : .stillPending
    }

    /// Stores the server's values, except over changes made during the attempt.
    private func merge(
        _ item: ServerItem, _ operation: inout MemoryOperation, _ object: MemoryObject, _ model: MemoryModel
    ) throws {
        let whole = object.whole(model)
        var changes = operation.changes
        for (place, value) in values(of: item, model) {
            let name = model.properties[place].name
            guard changes[name] != nil else { continue }
            let there = local(value, at: place, model)
            changes[name] = there == whole[place] ? nil : there
        }
        let unchanged = values(of: item, model).filter { changes[model.properties[$0.key].name] == nil }
        try applyServerValues(object, unchanged, model)
        try storeExtras(item.extras, of: object)
        operation.changes = changes
    }

    /// Returns the values in an item, by the properties' indexes.
    func values(of item: ServerItem, _ model: MemoryModel) -> [Int: StorageValue] {
        var values: [Int: StorageValue] = [:]
        for (place, property) in model.sent { values[place] = item.values[property.name] }
        return values
    }

    /// Stores a server's values in an object, whatever changes are pending.
    func applyServerValues(_ object: MemoryObject, _ values: [Int: StorageValue], _ model: MemoryModel) throws {
        guard let object = state.object(object.key) else { throw notFound(object.localID, model) }
        try update(object, values, model, .server)
    }

    func storeExtras(_ extras: [UInt8]?, of object: MemoryObject) throws {
        guard var object = state.object(object.key), object.extras != extras else { return }
        object.extras = extras
        try state.write(object)
    }

    /// Ends an attempt that was carried out.
    private func completeAttempt(_ operation: MemoryOperation) {
        var operation = operation
        if operation.kind == operation.sentKind ?? operation.kind && operation.changes.isEmpty {
            return drop(operation)
        }
        // Changes during the attempt stay pending, on the new version.
        operation.state = operation.stateAfterResponse
        let isDelete = operation.kind == .delete
        operation.kind = isDelete ? .delete : .update
        operation.replaced = isDelete && !operation.changes.isEmpty ? .update : nil
        operation.forgetAttempts()
        put(operation)
    }

    // MARK: Deletes

    private func finishDelete(_ operation: MemoryOperation, _ object: MemoryObject) {
        drop(operation)
        // An object that the server knows by its client-made ID may have been deleted before it was acknowledged.
        dropDeferred(of: object, object.serverID ?? ServerID(object.localID.rawValue), in: object.table)
        erase(object)
    }

    func makeInsert(_ id: PendingOperation.ID) throws {
        try checkUsable()
        let (operation, object, _) = try storedOperation(id)
        guard operation.kind != .delete else { throw stale(id) }
        try together {
            dropDeferred(of: object, object.serverID, in: object.table)
            try resend(operation, object)
        }
    }

    private func resend(_ operation: MemoryOperation, _ object: MemoryObject) throws {
        var (operation, object) = (operation, object)
        operation.state = operation.stateAfterResponse
        (operation.kind, operation.replaced, operation.changes) = (.insert, nil, [:])
        operation.forgetAttempts()
        put(operation)
        (object.serverID, object.version, object.createdAt, object.updatedAt) = (nil, nil, nil, nil)
        try state.write(object)
    }
}
