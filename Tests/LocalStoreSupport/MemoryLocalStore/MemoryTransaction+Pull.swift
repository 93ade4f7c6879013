import Tandem
import TandemSync

extension MemoryTransaction {
    func applyServerItem(_ item: ServerItem, in table: String, identity: IdentityRule) throws -> ServerReceipt {
        let model = try model(table)
        return try together {
            let known = match(item, identity, in: table)
            if let unreadable = item.unreadable {
                deferItem(item, of: known, in: table, .refused, message: unreadable.message)
                return .refused(unreadable)
            }
            guard let object = known else { return try receiveNew(item, model) }
            if let operation = state.operation(of: object) {
                return try applyToPending(item, besides: operation, object, model)
            }
            if item.isDeleted {
                dropDeferred(of: object, item.serverID, in: table)
                _ = try delete(object.localID, in: table, .server)
                return .removed(object.localID)
            }
            return try applyToSynced(item, over: object, model)
        }
    }

    /// Returns the local object that matches an item, or `nil` if the item is new.
    private func match(_ item: ServerItem, _ identity: IdentityRule, in table: String) -> MemoryObject? {
        if let found = state.find(item.serverID, in: table) { return found }
        // The object was created here. Its response may be lost, or another device may have chosen the same ID.
        let localID: LocalID?
        switch identity {
        case .client: localID = LocalID(item.serverID.rawValue)
        case .server(let carried): localID = carried
        }
        guard let localID, let found = state.find(localID, in: table), found.serverID == nil,
            state.operation(of: found) != nil
        else { return nil }
        return found
    }

    private func receiveNew(_ item: ServerItem, _ model: MemoryModel) throws -> ServerReceipt {
        guard !item.isDeleted else {
            dropDeferred(of: nil, item.serverID, in: model.table)
            return .unknownTombstone
        }
        let sent = item.values.filter { name, _ in model.sent.contains { $0.property.name == name } }
        let all = try complete(sent, model)
        // The server ID becomes the local ID, unless another object has it.
        let wanted = LocalID(item.serverID.rawValue)
        let localID = state.find(wanted, in: model.table) == nil ? wanted : ObjectState().localID
        let object = MemoryObject(
            row: state.nextRow(in: model.table), table: model.table, localID: localID, serverID: item.serverID,
            version: item.version, createdAt: item.createdAt, updatedAt: item.updatedAt,
            values: Array(repeating: .null, count: model.properties.count), extras: item.extras)
        do {
            try together { try add(object, all, model, .server) }
        } catch let error as TandemError where error.code == .duplicateValue {
            deferItem(item, of: nil, in: model.table, .refused, message: error.message)
            return .refused(error)
        }
        dropDeferred(of: object, item.serverID, in: model.table)
        return .inserted(localID)
    }

    /// Receives an item of a synced object.
    private func applyToSynced(
        _ item: ServerItem, over object: MemoryObject, _ model: MemoryModel
    ) throws -> ServerReceipt {
        do {
            // Compares values too, because two writes in the same millisecond may have equal versions.
            try together { try applyServerValues(object, values(of: item, model), model) }
        } catch let error as TandemError where error.code == .duplicateValue {
            deferItem(item, of: object, in: object.table, .refused, message: error.message)
            return .refused(error)
        }
        guard var new = state.object(object.key) else { throw notFound(object.localID, model) }
        new.extras = item.extras
        new.version = item.version
        new.createdAt = item.createdAt ?? object.createdAt
        new.updatedAt = item.updatedAt
        try state.write(new)
        dropDeferred(of: object, item.serverID, in: object.table)
        return new == object ? .unchanged : .updated(object.localID)
    }

    /// Receives an item of an object with an operation. The object stays unchanged.
    private func applyToPending(
        _ item: ServerItem, besides operation: MemoryOperation, _ object: MemoryObject, _ model: MemoryModel
    ) throws -> ServerReceipt {
        if !item.isDeleted, let version = item.version, let known = object.version,
            StorageValue.text(version) == .text(known), matchesBaseOrAttempt(item, operation, object, model)
        {
            // The item is the base of the change, so nothing has changed on the server. Deferred items are outdated.
            dropDeferred(of: object, item.serverID, in: object.table)
            return .unchanged
        }
        deferItem(item, of: object, in: object.table, .pending)
        return .deferred(operation.id)
    }

    /// Returns whether each value of the server equals the base of our changes, or a value that was sent.
    private func matchesBaseOrAttempt(
        _ item: ServerItem, _ operation: MemoryOperation, _ object: MemoryObject, _ model: MemoryModel
    ) -> Bool {
        let whole = object.whole(model)
        return values(of: item, model).allSatisfy { place, value in
            let name = model.properties[place].name
            if operation.attempted.contains(value, of: name) { return true }
            let there = local(value, at: place, model)
            guard let base = operation.base(of: name) else { return whole[place] == there }
            // A base may name an object that has received its server ID since.
            return base == there || local(base, at: place, model) == there
        }
    }

    // MARK: Groups

    func receiveTogether(
        _ items: [ServerItem], in table: String, identity: IdentityRule
    ) throws -> [ServerReceipt] {
        let model = try model(table)
        return try together {
            var receipts: [Int: ServerReceipt] = [:]
            var refused = Array(items.indices)
            var hasGivenUp = false
            while !refused.isEmpty {
                let count = refused.count
                refused = try refused.filter { index in
                    let receipt = try applyServerItem(items[index], in: table, identity: identity)
                    receipts[index] = receipt
                    return if case .refused = receipt { true } else { false }
                }
                guard refused.count == count else {
                    hasGivenUp = false
                    continue
                }
                guard !hasGivenUp, try giveUpUniqueValues(refused.map { items[$0] }, model) else { break }
                hasGivenUp = true
            }
            return items.indices.compactMap { receipts[$0] }
        }
    }

    /// Exchanges unique values between the objects of a group of items.
    ///
    /// - Returns: Whether any object has changed.
    private func giveUpUniqueValues(_ items: [ServerItem], _ model: MemoryModel) throws -> Bool {
        let unique = Set(model.uniques.joined())
        var group = items.filter { !$0.isDeleted }.compactMap { item in
            state.find(item.serverID, in: model.table).map { (item, $0.key) }
        }.filter { _, key in state.object(key).map { state.operation(of: $0) == nil } ?? false }
        while group.count > 1 {
            let before = state
            // Deleted objects are exempt from uniqueness, so each object can take a value that another still has.
            for (_, key) in group { try setHidden(true, key) }
            for (item, key) in group {
                guard let object = state.object(key) else { continue }
                try applyServerValues(object, values(of: item, model).filter { unique.contains($0.key) }, model)
            }
            var clashing: Set<MemoryKey> = []
            for (_, key) in group {
                do {
                    try setHidden(false, key)
                } catch let error as TandemError where error.code == .duplicateValue {
                    clashing.insert(key)
                }
            }
            if clashing.isEmpty { return true }
            state = before
            group.removeAll { clashing.contains($0.1) }
        }
        return false
    }

    private func setHidden(_ isHidden: Bool, _ key: MemoryKey) throws {
        guard var object = state.object(key) else { return }
        object.isDeleted = isHidden
        try state.write(object)
    }
}
