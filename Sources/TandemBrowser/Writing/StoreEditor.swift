import PageServer
import Tandem

/// Changes objects in the transactions that an app uses, and returns the way back of each change.
struct StoreEditor: Sendable {
    let store: Store
    let limits: BrowserLimits

    /// Changes properties of an object.
    ///
    /// - Throws: ``WebFailure`` if the object has other values than the page shows.
    func update(_ request: EditRequest) async throws -> Undo {
        let model = try store.model(named: request.model)
        let (id, values) = (try request.requireID(), try request.newValues(of: model))
        return try await store.write { [store] transaction in
            guard let before = try store.object(named: model.name, localID: id) else {
                throw WebFailure(.notFound, message: "This object does not exist, or was deleted.")
            }
            for (name, value) in request.values ?? [:] {
                let current = before[name] ?? .null
                guard EditText.text(of: current) == value.was, !current.isUnreadable else {
                    let message = "The value was changed meanwhile: it is \(current.shownText(upTo: 100))."
                    throw WebFailure(.conflict, message: "\(name): \(message)", fields: [name: message])
                }
            }
            try Self.checkTargets(of: values, in: model, store: store)
            let after = try transaction.update(model.name, localID: id, values: values)
            return Undo.update(UpdatedObject(before: before, after: after, properties: values.keys.sorted()))
        }
    }

    /// Inserts an object.
    func insert(_ request: EditRequest) async throws -> Undo {
        let model = try store.model(named: request.model)
        let values = try request.newValues(of: model)
        let id = request.id.map { LocalID($0) }
        return try await store.write { [store] transaction in
            try Self.checkTargets(of: values, in: model, store: store)
            return Undo.insert(try transaction.insert(model.name, values: values, localID: id))
        }
    }

    /// Checks that the targets of references exist. The store would let a reference wait for its object, which is nil
    /// until then: a person would not see the mistake.
    private static func checkTargets(
        of values: [String: DynamicValue], in model: ModelDefinition, store: Store
    ) throws {
        for property in model.properties {
            guard let target = property.targetModel, let value = values[property.name] else { continue }
            let ids: [LocalID] =
                switch value {
                case .reference(let id): [id]
                case .references(let ids): ids
                default: []
                }
            for id in ids {
                guard try store.object(named: target.name, localID: id) == nil else { continue }
                let message = "There is no \(target.name) with the local ID \(id)."
                throw WebFailure(.badRequest, message: "\(property.name): \(message)", fields: [property.name: message])
            }
        }
    }

    /// Deletes an object.
    ///
    /// - Returns: The way back; nil if the delete affects too many objects for one.
    func delete(_ request: EditRequest) async throws -> Undo? {
        let model = try store.model(named: request.model)
        let id = try request.requireID()
        return try await store.write { [store, limits] transaction in
            guard let object = try store.object(named: model.name, localID: id) else {
                throw WebFailure(.notFound, message: "This object does not exist, or was deleted.")
            }
            let deleted = try DeletedObjects(object, in: store, limits: limits)
            try transaction.delete(model.name, localID: id)
            return deleted.map { Undo.delete($0) }
        }
    }

    /// Restores an object whose delete was not sent yet.
    func restore(_ request: EditRequest) async throws -> Undo {
        let model = try store.model(named: request.model)
        let id = try request.requireID()
        return try await store.write { transaction in
            Undo.restore(try transaction.undelete(model.name, localID: id))
        }
    }

    /// Reverts a change.
    ///
    /// - Returns: The object.
    /// - Throws: ``WebFailure`` if the object was changed since, or another object refers to it now.
    func revert(_ undo: Undo) async throws -> DynamicObject {
        try await store.write { [store] transaction -> DynamicObject in
            switch undo {
            case .update(let update): return try update.revert(in: store, transaction: transaction)
            case .insert(let object), .restore(let object):
                let current = try store.object(named: object.model.name, localID: object.localID)
                guard let current, current.storedValues == object.storedValues else { throw Undo.changed }
                try Self.checkLinks(to: current, in: store)
                try transaction.delete(object.model.name, localID: object.localID)
                return object
            case .delete(let deleted): return try deleted.restore(in: store, transaction: transaction)
            }
        }
    }

    /// Checks that no other object refers to an object. Its delete would change or delete the others, which are newer.
    private static func checkLinks(to object: DynamicObject, in store: Store) throws {
        for link in try store.inverseLinks(ofModel: object.model.name) {
            // A reference of the object to itself does not matter.
            let holders = try store.objects(linkedBy: link, to: object).limit(2).all()
            guard holders.contains(where: { $0.model.name != object.model.name || $0.localID != object.localID })
            else { continue }
            throw WebFailure(.conflict, message: "This can't be undone: \(link) refers to the object now.")
        }
    }
}
