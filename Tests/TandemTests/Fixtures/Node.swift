import TandemTesting

@testable import Tandem

/// A model whose objects refer to each other with all delete rules, to one and to many objects.
struct Node: Hashable, Codable {
    var name: String? = nil
    /// Unique among live objects.
    var code: String? = nil
    /// Unique together with `code2`.
    var code1 = 0
    var code2: Int? = nil
    var count = 0
    /// Local only.
    var note = ""
    var next: Reference<Node>? = nil
    var parent: Reference<Node>? = nil
    var keeper: Reference<Node>? = nil
    var friends: [Reference<Node>] = []
    var owners: [Reference<Node>] = []
    var anchors: [Reference<Node>] = []
    var __state = ObjectState()

    init(_ name: String? = nil, code: String? = nil, count: Int = 0, localID: LocalID? = nil) {
        self.name = name
        self.code = code
        self.count = count
        if let localID { __state = ObjectState(localID: localID) }
    }

    init(__row row: RowDecoder) throws {
        __state = try row.state
        name = try row.value(0, String?.self)
        code = try row.value(1, String?.self)
        code1 = try row.value(2, Int.self)
        code2 = try row.value(3, Int?.self)
        count = try row.value(4, Int.self)
        note = try row.value(5, String.self)
        next = try row.value(6, Reference<Node>?.self)
        parent = try row.value(7, Reference<Node>?.self)
        keeper = try row.value(8, Reference<Node>?.self)
        friends = try row.value(9, [Reference<Node>].self)
        owners = try row.value(10, [Reference<Node>].self)
        anchors = try row.value(11, [Reference<Node>].self)
    }

    func __append(to row: RowEncoder) {
        row.append(name, String?.self)
        row.append(code, String?.self)
        row.append(code1, Int.self)
        row.append(code2, Int?.self)
        row.append(count, Int.self)
        row.append(note, String.self)
        row.append(next, Reference<Node>?.self)
        row.append(parent, Reference<Node>?.self)
        row.append(keeper, Reference<Node>?.self)
        row.append(friends, [Reference<Node>].self)
        row.append(owners, [Reference<Node>].self)
        row.append(anchors, [Reference<Node>].self)
    }

    static let __definition = ModelDefinition(
        Node.self, name: "Node", indexes: [IndexDefinition(["code1", "code2"], unique: true)],
        properties: [
            PropertyDefinition("name", Codec.of(String?.self), wireName: "title", folding: .searched),
            PropertyDefinition("code", Codec.of(String?.self), unique: true),
            PropertyDefinition("code1", Codec.of(Int.self), default: { 0 }),
            PropertyDefinition("code2", Codec.of(Int?.self)),
            PropertyDefinition("count", Codec.of(Int.self), default: { 0 }),
            PropertyDefinition("note", Codec.of(String.self), folding: .sorted, localOnly: true, default: { "" }),
            PropertyDefinition("next", Codec.of(Reference<Node>?.self)),
            PropertyDefinition("parent", Codec.of(Reference<Node>?.self), onDelete: .cascade),
            PropertyDefinition("keeper", Codec.of(Reference<Node>?.self), onDelete: .deny),
            PropertyDefinition("friends", Codec.of([Reference<Node>].self), default: { [] }),
            PropertyDefinition("owners", Codec.of([Reference<Node>].self), onDelete: .cascade, default: { [] }),
            PropertyDefinition("anchors", Codec.of([Reference<Node>].self), onDelete: .deny, default: { [] }),
        ])

    struct Columns: ModelColumns {
        typealias Root = Node
        init() {}
        var count: Property<Node, Int> { Property(Node.__definition, 4, Codec.of(Int.self)) }
        var code: Property<Node, String?> { Property(Node.__definition, 1, Codec.of(String?.self)) }
        var next: ReferenceProperty<Node, Node> { ReferenceProperty(Node.__definition, 6) }
        var friends: ReferencesProperty<Node, Node> { ReferencesProperty(Node.__definition, 9) }
    }
}

extension Node: Model {}

/// A model that is never sent.
struct Memo: Hashable, Codable {
    var text = ""
    var about: Reference<Node>? = nil
    var __state = ObjectState()

    init(_ text: String, about: Reference<Node>? = nil) {
        self.text = text
        self.about = about
    }

    init(__row row: RowDecoder) throws {
        __state = try row.state
        text = try row.value(0, String.self)
        about = try row.value(1, Reference<Node>?.self)
    }

    func __append(to row: RowEncoder) {
        row.append(text, String.self)
        row.append(about, Reference<Node>?.self)
    }

    static let __definition = ModelDefinition(
        Memo.self, name: "Memo", localOnly: true,
        properties: [
            PropertyDefinition("text", Codec.of(String.self), folding: .searched),
            PropertyDefinition("about", Codec.of(Reference<Node>?.self)),
        ])

    struct Columns: ModelColumns {
        typealias Root = Memo
        init() {}
    }
}

extension Memo: Model {}

extension Store {
    /// Makes a store of nodes, by default in memory.
    static func ofNodes(_ kind: StoreKind = .memory) throws -> Store { try kind.make([Node.self, Memo.self]) }

    /// Sends every operation, as to a server that returns the local ID as server ID.
    func sendAll() throws {
        try write { tx in
            for operation in try operations.all() {
                try tx.beginAttempt(operation.id)
                try tx.acknowledge(operation.id, serverID: ServerID("s-\(operation.localID)"), version: "1")
            }
        }
    }

    /// Returns the queue as text: `insert a`, `update b [count] attempted`.
    func queue() throws -> [String] {
        try operations.all().map { operation in
            var text = "\(operation.kind) \(operation.localID)"
            if !operation.base.isEmpty { text += " [\(operation.changedProperties.joined(separator: " "))]" }
            if operation.state != .pending { text += " \(operation.state)" }
            return text
        }
    }
}
