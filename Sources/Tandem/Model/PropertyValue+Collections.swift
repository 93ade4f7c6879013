import Foundation

// Arrays, sets and dictionaries of stored values are JSON, so that SQLite's own functions can read them too. A set is
// written in the order of its elements' text, so that equal sets have equal text.

extension RowEncoder {
    /// Appends a collection as exact JSON.
    func append(json node: JSONNode) {
        append(.text) { bytes in
            do {
                try ExactJSON.write(node, to: &bytes)
            } catch {
                failure = error
            }
        }
    }
}

extension RowDecoder {
    /// Reads a collection from exact JSON.
    func json(_ column: Int32) throws -> JSONNode {
        text(validating: column)
        return try decode(column) { bytes in
            try ExactJSON.parse(bytes.bindMemory(to: UInt8.self))
        }
    }
}

extension Array: PropertyValue where Element: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .collection("[\(Element.__kind)]") }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) {
        row.append(json: __json)
        // The retainer of an uncommitted file must live until the file is committed.
        if Element.self == Attachment.self, let attachments = self as? [Attachment] {
            row.retainers.append(contentsOf: attachments.compactMap(\.retainer))
        }
    }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Self {
        guard let value = Self(__json: try row.json(column)) else {
            throw InvalidStoredValue(column: column, reason: "the JSON is not a \(Self.self)")
        }
        return value
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode { .array(map(\.__json)) }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        guard case .array(let nodes) = node else { return nil }
        self.init()
        reserveCapacity(nodes.count)
        for node in nodes {
            guard let element = Element(__json: node) else { return nil }
            append(element)
        }
    }
}

extension Set: PropertyValue where Element: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .collection("Set<\(Element.__kind)>") }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) { row.append(json: __json) }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Self {
        guard let value = Self(__json: try row.json(column)) else {
            throw InvalidStoredValue(column: column, reason: "the JSON is not a \(Self.self)")
        }
        return value
    }

    /// The value as a node of exact JSON.
    public var __json: JSONNode {
        let nodes = map { element -> (JSONNode, [UInt8]) in
            let node = element.__json
            var bytes: [UInt8] = []
            try? ExactJSON.write(node, to: &bytes)
            return (node, bytes)
        }
        return .array(nodes.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0))
    }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        guard case .array(let nodes) = node else { return nil }
        self.init()
        for node in nodes {
            guard let element = Element(__json: node) else { return nil }
            insert(element)
        }
    }
}

extension Dictionary: PropertyValue where Key == String, Value: PropertyValue {
    /// The kind of the property in the schema.
    public static var __kind: PropertyKind { .collection("[String: \(Value.__kind)]") }

    /// Appends the stored form of the value.
    public func __append(to row: RowEncoder) { row.append(json: __json) }

    /// Reads the stored form of a value.
    public static func __read(_ row: RowDecoder, column: Int32) throws -> Self {
        guard let value = Self(__json: try row.json(column)) else {
            throw InvalidStoredValue(column: column, reason: "the JSON is not a \(Self.self)")
        }
        return value
    }

    /// The members, sorted by key. The order of a dictionary itself differs between equal ones.
    public var __json: JSONNode {
        .object(sorted { UTF8Order.compare($0.key, $1.key) < 0 }.map { (key: $0.key, value: $0.value.__json) })
    }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    public init?(__json node: JSONNode) {
        guard case .object(let members) = node else { return nil }
        self.init()
        for (key, node) in members {
            guard let value = Value(__json: node) else { return nil }
            self[key] = value
        }
    }
}
