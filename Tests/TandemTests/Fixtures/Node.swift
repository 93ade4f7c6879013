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
        name = try row.value(0, as: String?.self)
        code = try row.value(1, as: String?.self)
        code1 = try row.value(2, as: Int.self)
        code2 = try row.value(3, as: Int?.self)
        count = try row.value(4, as: Int.self)
        note = try row.value(5, as: String.self)
        next = try row.value(6, as: Reference<Node>?.self)
        parent = try row.value(7, as: Reference<Node>?.self)
        keeper = try row.value(8, as: Reference<Node>?.self)
        friends = try row.value(9, as: [Reference<Node>].self)
        owners = try row.value(10, as: [Reference<Node>].self)
        anchors = try row.value(11, as: [Reference<Node>].self)
    }

    func __append(to row: RowEncoder) {
        row.append(name, as: String?.self)
        row.append(code, as: String?.self)
        row.append(code1, as: Int.self)
        row.append(code2, as: Int?.self)
        row.append(count, as: Int.self)
        row.append(note, as: String.self)
        row.append(next, as: Reference<Node>?.self)
        row.append(parent, as: Reference<Node>?.self)
        row.append(keeper, as: Reference<Node>?.self)
        row.append(friends, as: [Reference<Node>].self)
        row.append(owners, as: [Reference<Node>].self)
        row.append(anchors, as: [Reference<Node>].self)
    }

    static let __definition = ModelDefinition(
        Node.self, name: "Node", indexes: [IndexDefinition(["code1", "code2"], unique: true)],
        properties: [
            PropertyDefinition("name", codec: Codec.of(String?.self), wireName: "title", folding: .searched),
            PropertyDefinition("code", codec: Codec.of(String?.self), unique: true),
            PropertyDefinition("code1", codec: Codec.of(Int.self), default: { 0 }),
            PropertyDefinition("code2", codec: Codec.of(Int?.self)),
            PropertyDefinition("count", codec: Codec.of(Int.self), default: { 0 }),
            PropertyDefinition(
                "note", codec: Codec.of(String.self), folding: .sorted, localOnly: true, default: { "" }),
            PropertyDefinition("next", codec: Codec.of(Reference<Node>?.self)),
            PropertyDefinition("parent", codec: Codec.of(Reference<Node>?.self), onDelete: .cascade),
            PropertyDefinition("keeper", codec: Codec.of(Reference<Node>?.self), onDelete: .deny),
            PropertyDefinition("friends", codec: Codec.of([Reference<Node>].self), default: { [] }),
            PropertyDefinition("owners", codec: Codec.of([Reference<Node>].self), onDelete: .cascade, default: { [] }),
            PropertyDefinition("anchors", codec: Codec.of([Reference<Node>].self), onDelete: .deny, default: { [] }),
        ])

    struct Columns: ModelColumns {
        typealias Root = Node
        init() {}
        var count: Property<Node, Int> { Property(Node.__definition, index: 4, codec: Codec.of(Int.self)) }
        var code: Property<Node, String?> { Property(Node.__definition, index: 1, codec: Codec.of(String?.self)) }
        var next: ReferenceProperty<Node, Node> { ReferenceProperty(Node.__definition, index: 6) }
        var friends: ReferencesProperty<Node, Node> { ReferencesProperty(Node.__definition, index: 9) }
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
        text = try row.value(0, as: String.self)
        about = try row.value(1, as: Reference<Node>?.self)
    }

    func __append(to row: RowEncoder) {
        row.append(text, as: String.self)
        row.append(about, as: Reference<Node>?.self)
    }

    static let __definition = ModelDefinition(
        Memo.self, name: "Memo", localOnly: true,
        properties: [
            PropertyDefinition("text", codec: Codec.of(String.self), folding: .searched),
            PropertyDefinition("about", codec: Codec.of(Reference<Node>?.self)),
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
