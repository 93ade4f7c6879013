import Tandem

/// The objects of one model, and their indexes.
struct MemoryTable: Sendable {
    let model: MemoryModel
    private(set) var objects: [Int64: MemoryObject] = [:]
    private var byLocalID: [LocalID: Int64] = [:]
    private var byServerID: [ServerID: Int64] = [:]
    /// The live objects by their unique values, for each of ``MemoryModel/uniques``.
    private var unique: [[[StorageValue]: Int64]]
    /// The rows of objects that refer to an ID, by the reference's index.
    private var naming: [Int: [LocalID: Set<Int64>]] = [:]
    private(set) var lastRow: Int64 = 0

    init(_ model: MemoryModel) {
        self.model = model
        unique = model.uniques.map { _ in [:] }
    }

    subscript(localID: LocalID) -> MemoryObject? { byLocalID[localID].flatMap { objects[$0] } }
    subscript(serverID: ServerID) -> MemoryObject? { byServerID[serverID].flatMap { objects[$0] } }
    subscript(row: Int64) -> MemoryObject? { objects[row] }

    var localIDs: [LocalID] { byLocalID.keys.sorted() }

    /// Returns the objects whose reference names an ID, ordered by row.
    func objects(naming id: LocalID, at place: Int) -> [MemoryObject] {
        (naming[place]?[id] ?? []).sorted().compactMap { objects[$0] }
    }

    mutating func nextRow() -> Int64 {
        lastRow += 1
        return lastRow
    }

    mutating func put(_ object: MemoryObject) {
        remove(object.row)
        objects[object.row] = object
        byLocalID[object.localID] = object.row
        if let serverID = object.serverID { byServerID[serverID] = object.row }
        for (index, places) in model.uniques.enumerated() where !object.isDeleted {
            if let key = key(of: object, places) { unique[index][key] = object.row }
        }
        for (place, entries) in object.links {
            for entry in entries { naming[place, default: [:]][entry.id, default: []].insert(object.row) }
        }
    }

    mutating func remove(_ row: Int64) {
        guard let old = objects.removeValue(forKey: row) else { return }
        byLocalID[old.localID] = nil
        if let serverID = old.serverID, byServerID[serverID] == row { byServerID[serverID] = nil }
        for (index, places) in model.uniques.enumerated() where !old.isDeleted {
            if let key = key(of: old, places), unique[index][key] == row { unique[index][key] = nil }
        }
        for (place, entries) in old.links {
            for entry in entries { naming[place]?[entry.id]?.remove(row) }
        }
    }

    // MARK: Constraints

    /// Checks the constraints of an object.
    func check(_ object: MemoryObject) throws {
        for (place, property) in model.properties.enumerated()
        where !property.isOptional && model.link(at: place) == nil && object.values[place] == .null {
            throw TandemError(
                .invalidValue, message: "The property must have a value.",
                advice: "Give it one, or make the property optional.",
                model: model.definition.name, property: property.name)
        }
        if let serverID = object.serverID, let other = byServerID[serverID], other != object.row {
            throw TandemError(
                .duplicateID, message: "An object with the server ID \(serverID) exists already.",
                advice: "Check the server's response.", model: model.definition.name)
        }
        guard !object.isDeleted else { return }
        for (index, places) in model.uniques.enumerated() {
            guard let key = key(of: object, places), let row = unique[index][key], row != object.row else { continue }
            let (other, isOne) = (objects[row]?.localID, places.count == 1)
            throw TandemError(
                .duplicateValue,
                message: "Another object\(other.map { " (\($0))" } ?? "") has "
                    + "\(isOne ? "this value" : "these values") already.",
                advice: "Change \(isOne ? "it" : "one of them"), or update the other object.",
                model: model.definition.name, property: places.map { model.properties[$0].name }.joined(separator: "+"),
                localID: other)
        }
    }

    /// Returns the values of a unique key, or `nil` if one of them is null. Nulls are not equal.
    private func key(of object: MemoryObject, _ places: [Int]) -> [StorageValue]? {
        var key: [StorageValue] = []
        for place in places {
            switch object.present(at: place, model) {
            case .null: return nil
            case .text(let text) where places.count == 1 && model.properties[place].isUniqueFolded:
                key.append(.text(Folding.caseKey(text)))
            // -0 equals 0 here, as everywhere except in bitwise comparisons.
            case .real(let value): key.append(.real(value + 0))
            case let value: key.append(value)
            }
        }
        return key
    }
}
