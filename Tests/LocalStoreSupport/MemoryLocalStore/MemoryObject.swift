import Foundation
import Tandem

/// An object in a ``MemoryLocalStore``. It may be deleted locally but not on the server yet.
struct MemoryObject: Equatable, Sendable {
    /// The row number, in order of insertion.
    let row: Int64
    let table: String
    let localID: LocalID
    var serverID: ServerID?
    var version: String?
    var createdAt: Date?
    var updatedAt: Date?
    var isDeleted = false
    /// The values by the properties' indexes. Those of references are in ``links``.
    var values: [StorageValue]
    /// The references by the properties' indexes; `nil` for a list that is null.
    var links: [Int: [MemoryLink]] = [:]
    /// The members unknown to the model.
    var extras: [UInt8]?

    var key: MemoryKey { MemoryKey(table: table, row: row) }

    /// Compares objects. Versions compare like all texts.
    static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.key == rhs.key && lhs.localID == rhs.localID && lhs.serverID == rhs.serverID
            && lhs.version.map { StorageValue.text($0) } == rhs.version.map { StorageValue.text($0) }
            && lhs.createdAt == rhs.createdAt && lhs.updatedAt == rhs.updatedAt && lhs.isDeleted == rhs.isDeleted
            && lhs.values == rhs.values && lhs.links == rhs.links && lhs.extras == rhs.extras
    }

    /// Returns all values, including unresolved references.
    func whole(_ model: MemoryModel) -> [StorageValue] {
        var all = values
        for link in model.links { all[link.place] = MemoryLink.value(links[link.place], link) }
        return all
    }

    /// Returns a value as constraints see it: without unresolved references.
    func present(at place: Int, _ model: MemoryModel) -> StorageValue {
        guard let link = model.link(at: place) else { return values[place] }
        return MemoryLink.value(links[place]?.filter(\.isHere), link)
    }
}

/// The identity of an object in the store.
struct MemoryKey: Hashable, Sendable {
    let table: String
    let row: Int64
}

/// The target of a reference, or of an entry in a list of references.
struct MemoryLink: Hashable, Sendable {
    /// The local ID; if unresolved, the ID by which the reference names it.
    var id: LocalID
    /// Whether the target exists. If not, the reference is unresolved.
    var isHere: Bool

    static func value(_ entries: [MemoryLink]?, _ link: MemoryModel.Link) -> StorageValue {
        if link.isToMany { return entries.map { .references($0.map(\.id)) } ?? .null }
        return entries?.first.map { .text($0.id.rawValue) } ?? .null
    }
}
