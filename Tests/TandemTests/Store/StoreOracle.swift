@testable import Tandem

/// The expected content of a store of nodes: the same rules in plain Swift, on values in a dictionary.
struct StoreOracle {
    typealias ID = LocalID

    /// A reference or a list: the visible objects, and the places of the awaited ones.
    struct Link: Equatable {
        var visible: [ID] = []
        var waiting: [WaitingEntry] = []
    }

    struct Op: Equatable {
        var kind: PendingOperation.Kind
        var state: PendingOperation.State = .pending
        var attempts = 0
        var changes: [String: StorageValue] = [:]
        var sent: [String: StorageValue]?
        var sentKind: PendingOperation.Kind?
        var replaced: PendingOperation.Kind?
        /// The kinds, and the values by property, sent since the server's last response.
        var kinds: Set<PendingOperation.Kind> = []
        var attempted: [String: [StorageValue]] = [:]
        /// The kinds sent before the attempt in flight, and the values of that attempt.
        var before: Set<PendingOperation.Kind> = []
        var current: [String: StorageValue] = [:]
        var hasError = false
        /// The number of the transaction that queued it.
        var queued: Int
    }

    struct Object {
        var name: String?
        var code: String?
        var count = 0
        var note = ""
        var links: [String: Link] = [:]
        var isDeleted = false
        var hasServerID = false
        var op: Op?
    }

    struct Refusal: Error {
        let code: TandemError.Code
        init(_ code: TandemError.Code) { self.code = code }
    }

    static let toOne = ["next", "parent", "keeper"]
    static let toMany = ["friends", "owners", "anchors"]
    static let links = toOne + toMany

    var objects: [ID: Object] = [:]
    var transaction = 0
    /// The items of a server that were set aside, by object.
    var kept: [ID: Deferred] = [:]

    // MARK: Changes of the app

    mutating func insert(_ node: Node) throws {
        let id = node.localID
        if let there = objects[id] {
            guard there.isDeleted else {
                throw Refusal(.duplicateID)
            }
            return try revive(id, node, only: nil, keeps: false)
        }
        if hasClash(node.code, id) { throw Refusal(.duplicateValue) }
        add(node, Op(kind: .insert, queued: transaction))
    }

    mutating func update(_ node: Node) throws {
        guard let there = objects[node.localID] else { throw Refusal(.notFound) }
        if there.isDeleted { throw Refusal(.objectDeleted) }
        try change(node.localID, node, only: nil, keeps: true)
    }

    mutating func upsert(_ node: Node, only: Set<String>?) throws {
        guard let there = objects[node.localID] else { return try insert(node) }
        if there.isDeleted { return try revive(node.localID, node, only: only, keeps: only == nil) }
        try change(node.localID, node, only: only, keeps: only == nil)
    }

    mutating func delete(_ id: ID) throws {
        guard let there = objects[id], !there.isDeleted else { return }
        var doomed: Set<ID> = [id]
        while true {
            let more = objects.filter { key, object in
                !object.isDeleted && !doomed.contains(key)
                    && ["parent", "owners"].contains { !doomed.isDisjoint(with: object.links[$0]?.visible ?? []) }
            }
            if more.isEmpty { break }
            doomed.formUnion(more.keys)
        }
        for (key, object) in objects where !object.isDeleted && !doomed.contains(key) {
            if ["keeper", "anchors"].contains(where: { !doomed.isDisjoint(with: object.links[$0]?.visible ?? []) }) {
                throw Refusal(.deleteDenied)
            }
        }
        for key in doomed { tombstone(key) }
        for key in Array(objects.keys) where !objects[key]!.isDeleted {
            var bases: [String: StorageValue] = [:]
            for name in ["next", "friends"] {
                let link = objects[key]!.links[name]!
                guard !doomed.isDisjoint(with: link.visible) else { continue }
                bases[name] = whole(name, link)
                objects[key]!.links[name]!.release(doomed, isToMany: name == "friends")
            }
            if !bases.isEmpty { record(key, bases) }
        }
    }

    mutating func undelete(_ id: ID) throws {
        guard let there = objects[id] else { throw Refusal(.notFound) }
        guard there.isDeleted else { throw Refusal(.objectNotDeleted) }
        takeDeleteBack(id)
        try show(id)
    }

    // MARK: -

    func isLive(_ id: ID) -> Bool { objects[id].map { !$0.isDeleted } ?? false }

    func hasClash(_ code: String?, _ id: ID) -> Bool {
        code != nil && objects.contains { $0 != id && !$1.isDeleted && $1.code == code }
    }

    mutating func add(_ node: Node, _ op: Op?) {
        var object = Object(name: node.name, code: node.code, count: node.count, note: node.note, op: op)
        for name in Self.links {
            let given = node.ids(name)
            object.links[name] = Link(
                visible: given.filter { isLive($0) },
                waiting: given.enumerated().filter { !isLive($0.element) }.map {
                    WaitingEntry(position: $0.offset, id: $0.element)
                })
        }
        objects[node.localID] = object
        arrive(node.localID)
    }

    /// Adds an object and resolves the references that wait for it.
    mutating func arrive(_ id: ID) {
        for key in Array(objects.keys) {
            for name in Self.links { objects[key]!.links[name]!.place(id, isToMany: Self.toMany.contains(name)) }
        }
    }

    mutating func change(
        _ id: ID, _ node: Node, only: Set<String>?, keeps: Bool, isServer: Bool = false
    ) throws {
        var object = objects[id]!
        var bases: [String: StorageValue] = [:]
        func names(_ name: String) -> Bool { only?.contains(name) ?? true }
        if names("name"), object.name != node.name {
            bases["name"] = object.name.map { .text($0) } ?? .null
            object.name = node.name
        }
        if names("code"), object.code != node.code {
            if !object.isDeleted && hasClash(node.code, id) { throw Refusal(.duplicateValue) }
            bases["code"] = object.code.map { .text($0) } ?? .null
            object.code = node.code
        }
        if names("count"), object.count != node.count {
            bases["count"] = .integer(Int64(object.count))
            object.count = node.count
        }
        if names("note"), !isServer { object.note = node.note }
        for name in Self.links where names(name) {
            let old = object.links[name]!
            var new = Link()
            let given = node.ids(name)
            new.visible = given.filter { isLive($0) }
            let missing = given.enumerated().filter { !isLive($0.element) }
            if Self.toMany.contains(name) {
                if keeps { new.waiting = old.waiting.filter { entry in !missing.contains { $0.element == entry.id } } }
                let kept = new.waiting
                new.waiting += missing.map {
                    WaitingEntry(
                        position: WaitingEntry.position(ofPresent: $0.offset, besides: kept), id: $0.element)
                }
                new.waiting.sort { $0.position < $1.position }
            } else if let first = missing.first {
                new.waiting = [WaitingEntry(position: 0, id: first.element)]
            } else if keeps && given.isEmpty {
                new.waiting = old.waiting
            }
            if new != old { bases[name] = whole(name, old) }
            object.links[name] = new
        }
        objects[id] = object
        if !isServer && !bases.isEmpty { record(id, bases) }
    }

    func whole(_ name: String, _ link: Link) -> StorageValue {
        let isToMany = Self.toMany.contains(name)
        let stored: StorageValue =
            isToMany ? .text(LinkList.text(link.visible)) : link.visible.first.map { .text($0.rawValue) } ?? .null
        return WaitingEntry.whole(stored, with: link.waiting, isToMany: isToMany)
    }

    private mutating func record(_ id: ID, _ bases: [String: StorageValue]) {
        guard var op = objects[id]!.op else {
            objects[id]!.op = Op(kind: .update, changes: bases, queued: transaction)
            return
        }
        if op.kind == .update || op.sent != nil { op.changes.merge(bases) { first, _ in first } }
        if op.state == .failed { (op.state, op.hasError) = (.pending, false) }
        objects[id]!.op = op
    }

    private mutating func tombstone(_ id: ID) {
        var object = objects[id]!
        if var op = object.op {
            if op.kind == .insert && op.kinds.isEmpty {
                erase(id)
                return
            }
            op.replaced = op.kind
            op.kind = .delete
            if op.state == .failed { (op.state, op.hasError) = (.pending, false) }
            object.op = op
        } else {
            object.op = Op(kind: .delete, queued: transaction)
        }
        object.isDeleted = true
        objects[id] = object
    }

    private mutating func takeDeleteBack(_ id: ID) {
        let object = objects[id]!
        guard var op = object.op else { return }
        if let replaced = op.replaced {
            op.kind = replaced
            op.replaced = nil
        } else if op.kinds.isEmpty {
            objects[id]!.op = nil
            return
        } else {
            op.kind = .update
            var all: [String: StorageValue] = [
                "name": object.name.map { .text($0) } ?? .null, "code": object.code.map { .text($0) } ?? .null,
                "count": .integer(Int64(object.count)), "code1": .integer(0), "code2": .null,
            ]
            for (name, link) in object.links { all[name] = whole(name, link) }
            op.changes.merge(all) { first, _ in first }
        }
        if op.state == .failed { (op.state, op.hasError) = (.pending, false) }
        objects[id]!.op = op
    }

    private mutating func revive(_ id: ID, _ node: Node, only: Set<String>?, keeps: Bool) throws {
        takeDeleteBack(id)
        try change(id, node, only: only, keeps: keeps)
        try show(id)
    }

    mutating func show(_ id: ID) throws {
        if hasClash(objects[id]!.code, id) { throw Refusal(.duplicateValue) }
        objects[id]!.isDeleted = false
        let dead = Set(objects[id]!.links.values.flatMap(\.visible).filter { !isLive($0) })
        for name in Self.links { objects[id]!.links[name]!.detach { dead.contains($0) } }
        arrive(id)
    }
}

extension StoreOracle.Link {
    /// Removes entries. Waiting entries of a list keep their places among the others.
    mutating func release(_ gone: Set<LocalID>, isToMany: Bool) {
        guard isToMany else { return visible.removeAll { gone.contains($0) } }
        var entries = visible.map { (id: $0, waits: false) }
        for entry in waiting { entries.insert((entry.id, true), at: min(entry.position, entries.count)) }
        entries.removeAll { !$0.waits && gone.contains($0.id) }
        visible = entries.filter { !$0.waits }.map(\.id)
        waiting = entries.enumerated().filter(\.element.waits).map {
            WaitingEntry(position: $0.offset, id: $0.element.id)
        }
    }

    /// Makes entries of missing objects wait in their places.
    mutating func detach(_ isGone: (LocalID) -> Bool) {
        let others = waiting
        waiting += visible.enumerated().filter { isGone($0.element) }.map {
            WaitingEntry(position: WaitingEntry.position(ofPresent: $0.offset, besides: others), id: $0.element)
        }
        waiting.sort { $0.position < $1.position }
        visible.removeAll(where: isGone)
    }

    mutating func place(_ id: LocalID, isToMany: Bool) {
        for entry in waiting where entry.id == id {
            let before = waiting.filter { $0.position < entry.position }.count
            if isToMany {
                visible.insert(id, at: max(0, min(entry.position - before, visible.count)))
            } else if visible.isEmpty {
                visible = [id]
            }
            waiting.removeAll { $0 == entry }
        }
    }
}

extension Node {
    /// Returns the local IDs in a reference or a list.
    func ids(_ link: String) -> [LocalID] {
        switch link {
        case "next": next.map { [$0.localID] } ?? []
        case "parent": parent.map { [$0.localID] } ?? []
        case "keeper": keeper.map { [$0.localID] } ?? []
        case "friends": friends.map(\.localID)
        case "owners": owners.map(\.localID)
        default: anchors.map(\.localID)
        }
    }
}
