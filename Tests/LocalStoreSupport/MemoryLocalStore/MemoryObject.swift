import Foundation
import Tandem

/// An object in a ``MemoryLocalStore``, a deleted one that the server has not heard of too.
struct MemoryObject: Equatable, Sendable {
    /// Numbered as they come.
    let row: Int64
    let table: String
    let localID: LocalID
    var serverID: ServerID?
    var version: String?
    var createdAt: Date?
    var updatedAt: Date?
    var isDeleted = false
    /// By the properties' places. A reference's is in ``links``.
    var values: [StorageValue]
    /// The references, by their properties' places; `nil` for a list that is null.
    var links: [Int: [MemoryLink]] = [:]
    /// The members that the model does not know.
    var extras: [UInt8]?

    var key: MemoryKey { MemoryKey(table: table, row: row) }

    /// Versions are compared as all texts are.
    static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.key == rhs.key && lhs.localID == rhs.localID && lhs.serverID == rhs.serverID
            && lhs.version.map { StorageValue.text($0) } == rhs.version.map { StorageValue.text($0) }
            && lhs.createdAt == rhs.createdAt && lhs.updatedAt == rhs.updatedAt && lhs.isDeleted == rhs.isDeleted
            && lhs.values == rhs.values && lhs.links == rhs.links && lhs.extras == rhs.extras
    }

    /// All values, references with what waits in its place.
    func whole(_ model: MemoryModel) -> [StorageValue] {
        var all = values
        for link in model.links { all[link.place] = MemoryLink.value(links[link.place], link) }
        return all
    }

    /// A value as a constraint sees it: of references those alone that are there.
    func present(at place: Int, _ model: MemoryModel) -> StorageValue {
        guard let link = model.link(at: place) else { return values[place] }
        return MemoryLink.value(links[place]?.filter(\.isHere), link)
    }
}

/// What tells an object from all others.
struct MemoryKey: Hashable, Sendable {
    let table: String
    let row: Int64
}

/// What a reference, or an entry of a list of them, names.
struct MemoryLink: Hashable, Sendable {
    /// A local ID; of what is not here, the ID by which it was named.
    var id: LocalID
    /// Whether it leads to an object. If not, it waits for one.
    var isHere: Bool

    static func value(_ entries: [MemoryLink]?, _ link: MemoryModel.Link) -> StorageValue {
        if link.isToMany { return entries.map { .references($0.map(\.id)) } ?? .null }
        return entries?.first.map { .text($0.id.rawValue) } ?? .null
    }
}
