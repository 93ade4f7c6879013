import Foundation
import Tandem
import TandemSync

extension MemoryTransaction {
    func insert(_ values: [String: StorageValue], in table: String, as localID: LocalID?) throws -> LocalID {
        let model = try model(table)
        return try together {
            let all = try complete(values, model)
            let localID = localID ?? ObjectState().localID
            if let there = state.find(localID, in: table) {
                guard there.isDeleted else {
                    throw TandemError(
                        .duplicateID, message: "An object with the local ID \(localID) exists already.",
                        advice: "Change it, or give the new object another ID.", model: model.definition.name)
                }
                try revive(there, all, model)
                return localID
            }
            let object = MemoryObject(
                row: state.nextRow(in: table), table: table, localID: localID,
                values: Array(repeating: .null, count: model.properties.count))
            try add(object, all, model, .app)
            if !model.definition.isLocalOnly { recordInsert(object) }
            return localID
        }
    }

    /// Returns the values of a new object by index, with defaults for missing ones.
    func complete(_ values: [String: StorageValue], _ model: MemoryModel) throws -> [Int: StorageValue] {
        var all: [Int: StorageValue] = [:]
        for (place, property) in model.properties.enumerated() {
            guard let value = values[property.name] ?? property.defaultValue else {
                throw TandemError(
                    .invalidValue, message: "The property must have a value.",
                    advice: "Give it one, or make the property optional.",
                    model: model.definition.name, property: property.name)
            }
            all[place] = value
        }
        return all
    }

    /// Adds an object that has no values yet.
    func add(
        _ object: MemoryObject, _ values: [Int: StorageValue], _ model: MemoryModel, _ origin: Origin
    ) throws {
        try state.write(try set(values, in: object, model, origin).object)
        try resolveWaiting(for: object.localID, object.serverID, in: object.table)
    }

    func change(_ localID: LocalID, in table: String, to values: [String: StorageValue]?) throws {
        let model = try model(table)
        try together {
            guard let values else {
                _ = try delete(localID, in: table, .app)
                return
            }
            guard let object = state.find(localID, in: table) else { throw notFound(localID, model) }
            let whole = object.whole(model)
            var changed: [Int: StorageValue] = [:]
            for (place, property) in model.properties.enumerated() {
                if let value = values[property.name], value != whole[place] { changed[place] = value }
            }
            if object.isDeleted {
                try revive(object, changed, model)
            } else {
                try update(object, changed, model, .app)
            }
        }
    }

    /// Restores a deleted object with new values. The values are stored first, because the old ones may now violate
    /// uniqueness.
    private func revive(_ object: MemoryObject, _ values: [Int: StorageValue], _ model: MemoryModel) throws {
        recordUndelete(object, model)
        try update(object, values, model, .app)
        try show(object, model, .app)
    }

    /// Makes a hidden object visible.
    func show(_ hidden: MemoryObject, _ model: MemoryModel, _ origin: Origin) throws {
        guard var object = state.object(hidden.key) else { throw notFound(hidden.localID, model) }
        object.isDeleted = false
        try state.write(object)
        // Targets may have been deleted while this object was deleted. Those references become unresolved.
        for link in model.links {
            let entries = (object.links[link.place] ?? []).map { entry in
                entry.isHere ? self.entry(entry.id, link.target, origin) : entry
            }
            if zip(entries, object.links[link.place] ?? []).contains(where: { $0.isHere != $1.isHere }) {
                object.links[link.place] = entries
            }
        }
        try state.write(object)
        try resolveWaiting(for: object.localID, object.serverID, in: object.table)
    }

    // MARK: -

    /// Changes an object's values. A change by the app is recorded as an operation.
    func update(
        _ object: MemoryObject, _ values: [Int: StorageValue], _ model: MemoryModel, _ origin: Origin
    ) throws {
        let (new, changed) = try set(values, in: object, model, origin)
        try commit(new, changed, of: object, model, origin)
    }

    func commit(
        _ new: MemoryObject, _ changed: [Int], of object: MemoryObject, _ model: MemoryModel, _ origin: Origin
    ) throws {
        guard !changed.isEmpty else { return }
        try state.write(new)
        guard origin == .app, !model.definition.isLocalOnly else { return }
        let whole = object.whole(model)
        let bases = changed.filter { !model.properties[$0].isLocalOnly }.map { (model.properties[$0].name, whole[$0]) }
        if !bases.isEmpty { recordUpdate(object, Dictionary(uniqueKeysWithValues: bases)) }
    }

    private func set(
        _ values: [Int: StorageValue], in object: MemoryObject, _ model: MemoryModel, _ origin: Origin
    ) throws -> (object: MemoryObject, changed: [Int]) {
        var (new, changed) = (object, [Int]())
        for (place, value) in values {
            if let link = model.link(at: place) {
                let entries = try entries(value, link, origin)
                if entries != object.links[place] {
                    new.links[place] = entries
                    let isNothing = !link.isToMany && entries == [] && object.links[place] == nil
                    if !isNothing { changed.append(place) }
                }
            } else if value != object.values[place] {
                new.values[place] = value
                changed.append(place)
            }
        }
        return (new, changed)
    }
}
