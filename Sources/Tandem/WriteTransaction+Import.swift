import Foundation

extension WriteTransaction {
    /// Inserts an object from a dictionary, or changes the named properties of the object with its `localID` or
    /// `serverID`.
    ///
    /// For example:
    ///
    /// ```swift
    /// try tx.upsert(Card.self, values: ["localID": "a1", "shop": "Лента", "barcode": "4601234567893"])
    /// ```
    ///
    /// Keys are the properties' names in Swift or on the wire. Values have the properties' types, or the corresponding
    /// types of JSON. Properties without a key do not change. In a new object they get their defaults.
    ///
    /// - Parameters:
    ///   - model: The model of the object.
    ///   - values: The values by their keys. They may include the IDs.
    ///   - ignoringUnknown: Whether to ignore keys that do not name a property. By default they throw an error.
    /// - Returns: The object's local ID.
    /// - Throws: ``TandemError/Code/invalidValue`` if a key or a value is not valid, or a new object lacks a value;
    ///   ``TandemError/Code/duplicateValue``; ``TandemError/Code/unknownModel`` if the store was opened without the
    ///   model.
    @discardableResult
    public func upsert<M: Model>(
        _ model: M.Type, values: [String: Any?], ignoringUnknown: Bool = false
    ) throws -> LocalID {
        try checkUsable()
        let table = try store.schema.table(M.self)
        return try upsert(
            values.map { ($0.key, ImportedValue.any($0.value as Any)) }, into: table, ignoringUnknown: ignoringUnknown)
    }

    /// Inserts or changes objects from dictionaries. See `upsert(_:values:ignoringUnknown:)`.
    ///
    /// - Parameters:
    ///   - model: The model of the objects.
    ///   - values: The values of each object, by the properties' names in Swift.
    ///   - ignoringUnknown: Whether values without a property are ignored. Otherwise they are an error.
    /// - Returns: The objects' local IDs.
    /// - Throws: The errors for a single object. None of the objects is then saved.
    @discardableResult
    public func upsert<M: Model>(
        _ model: M.Type, values: [[String: Any?]], ignoringUnknown: Bool = false
    ) throws -> [LocalID] {
        try checkUsable()
        return try savepoint {
            try values.map { try upsert(model, values: $0, ignoringUnknown: ignoringUnknown) }
        }
    }

    /// Inserts or changes objects from JSON: an object, or an array of objects. See
    /// `upsert(_:values:ignoringUnknown:)`.
    ///
    /// - Parameters:
    ///   - model: The model of the objects.
    ///   - json: The JSON as UTF-8.
    ///   - ignoringUnknown: Whether members without a property are ignored. Otherwise they are an error.
    /// - Returns: The objects' local IDs.
    /// - Throws: ``TandemError/Code/invalidValue`` if the data is not such JSON. None of the objects is then saved.
    @discardableResult
    public func upsert<M: Model>(_ model: M.Type, json: Data, ignoringUnknown: Bool = false) throws -> [LocalID] {
        try checkUsable()
        return try upsert(json, into: try store.schema.table(M.self), ignoringUnknown: ignoringUnknown)
    }

    /// Inserts or changes objects from JSON, by the model's name: an object, or an array of objects. See
    /// `upsert(_:json:ignoringUnknown:)` for a model's type.
    ///
    /// - Parameters:
    ///   - model: The model's name in Swift.
    ///   - json: The JSON as UTF-8.
    ///   - ignoringUnknown: Whether members without a property are ignored. Otherwise they are an error.
    /// - Returns: The objects' local IDs.
    /// - Throws: ``TandemError/Code/unknownModel``, and ``TandemError/Code/invalidValue`` if the data is not such JSON.
    ///   None of the objects is then saved.
    @discardableResult
    public func upsert(_ model: String, json: Data, ignoringUnknown: Bool = false) throws -> [LocalID] {
        try checkUsable()
        return try upsert(json, into: try store.table(forModel: model), ignoringUnknown: ignoringUnknown)
    }

    private func upsert(_ json: Data, into table: TableLayout, ignoringUnknown: Bool) throws -> [LocalID] {
        let node: JSONNode
        do {
            node = try json.withUnsafeBytes { try ExactJSON.parseForeign($0.bindMemory(to: UInt8.self)) }
        } catch {
            throw invalid(
                "The data is not valid JSON.", advice: "See the underlying error.", in: table, underlying: error)
        }
        let objects: [JSONNode] =
            switch node {
            case .array(let nodes): nodes
            default: [node]
            }
        return try savepoint {
            try objects.map { object in
                guard case .object(let members) = object else {
                    throw invalid(
                        "The JSON contains a value that is not an object.",
                        advice: "Give an object, or an array of objects.",
                        in: table)
                }
                return try upsert(
                    members.map { ($0.key, ImportedValue.json($0.value)) }, into: table,
                    ignoringUnknown: ignoringUnknown)
            }
        }
    }

    func upsert(
        _ values: [(String, ImportedValue)], into table: TableLayout, ignoringUnknown: Bool
    ) throws -> LocalID {
        var state = ObjectState()
        var named: [Int: ImportedValue] = [:]
        for (key, value) in values {
            switch key {
            case "localID":
                guard let text = value.text else {
                    throw invalid("localID is not a text.", advice: "Give a string.", in: table)
                }
                state.localID = LocalID(text)
            case "serverID":
                guard !value.isNull else { continue }
                guard let text = value.text else {
                    throw invalid("serverID is not a text.", advice: "Give a string.", in: table)
                }
                state.serverID = ServerID(text)
            case "version", "createdAt", "updatedAt", "synced", "deleted": continue
            default:
                if let index = table.definition.index(ofImported: key) {
                    named[index] = value
                } else if !ignoringUnknown {
                    throw invalid(
                        "The model has no property \"\(key)\".",
                        advice: "Correct the key, or pass ignoringUnknown: true.",
                        in: table)
                }
            }
        }
        let row = RowEncoder()
        let found = try find(state, in: table)
        found?.reset()
        let isNew = found == nil
        for (index, property) in table.definition.properties.enumerated() {
            if let value = named[index] {
                try append(value, of: property, to: row, in: table)
            } else if isNew {
                guard let appendDefault = property.appendDefault else {
                    throw TandemError(
                        .invalidValue, message: "A new object needs a value for the property.",
                        advice: "Give a value, or give the property a default.", store: store.path,
                        model: table.definition.name, property: property.name)
                }
                appendDefault(row)
            } else {
                row.appendNull()
            }
        }
        return try upsert(row, state: state, into: table, only: isNew ? nil : Set(named.keys)).localID
    }

    private func append(
        _ value: ImportedValue, of property: PropertyDefinition, to row: RowEncoder, in table: TableLayout
    ) throws {
        let isAppended: Bool
        switch value {
        case .json(let node): isAppended = property.appendJSON(node, row)
        case .any(let any):
            // Try the property's own type first, and then the corresponding type of JSON.
            isAppended =
                property.appendAny(any, row)
                || (JSONNode(any: any).map { property.appendJSON($0, row) } ?? false)
        }
        guard isAppended else {
            throw TandemError(
                .invalidValue, message: "\(value) is not a \(property.kind)\(property.isOptional ? "?" : "").",
                advice: "Convert the value, or leave the key out.", store: store.path, model: table.definition.name,
                property: property.name)
        }
    }

    private func invalid(
        _ message: String, advice: String, in table: TableLayout, underlying: (any Error)? = nil
    ) -> TandemError {
        TandemError(
            .invalidValue, message: message, advice: advice, store: store.path, model: table.definition.name,
            underlying: underlying)
    }
}

/// A value from a dictionary or from JSON.
enum ImportedValue: CustomStringConvertible {
    case json(JSONNode)
    case any(Any)

    private var node: JSONNode? {
        switch self {
        case .json(let node): node
        case .any(let any): JSONNode(any: any)
        }
    }

    var isNull: Bool { if case .null? = node { true } else { false } }

    var text: String? {
        switch self {
        case .any(let id as LocalID): id.rawValue
        case .any(let id as ServerID): id.rawValue
        default: if case .text(let text)? = node { text } else { nil }
        }
    }

    var description: String {
        switch self {
        case .json(let node):
            var bytes: [UInt8] = []
            try? ExactJSON.write(node, to: &bytes)
            return String(decoding: bytes.prefix(100), as: UTF8.self)
        case .any(let any): return String("\(any)".prefix(100))
        }
    }
}

extension JSONNode {
    /// Creates the JSON node for a value of a dictionary. Returns `nil` if JSON can't represent it.
    init?(any: Any) {
        if let optional = any as? any AnyOptional {
            guard let value = optional.wrapped else {
                self = .null
                return
            }
            self.init(any: value)
            return
        }
        switch any {
        // These are JSONSerialization's numbers, which Swift casts to `Bool` if they are 0 or 1.
        case let value as NSNumber where type(of: any) is NSNumber.Type: self.init(value)
        case let value as Bool: self = .bool(value)
        case let value as any PropertyValue: self = value.__json
        case let value as [Any]:
            let nodes = value.map { JSONNode(any: $0) }
            guard !nodes.contains(where: { $0 == nil }) else { return nil }
            self = .array(nodes.compactMap { $0 })
        case let value as [String: Any]:
            let members = value.map { (key: $0.key, value: JSONNode(any: $0.value)) }
            guard !members.contains(where: { $0.value == nil }) else { return nil }
            self = .object(members.compactMap { member in member.value.map { (key: member.key, value: $0) } })
        case is NSNull: self = .null
        case let id as LocalID: self = .text(id.rawValue)
        case let id as ServerID: self = .text(id.rawValue)
        case let value as any RawRepresentable:
            guard let node = JSONNode(any: value.rawValue) else { return nil }
            self = node
        default: return nil
        }
    }
}

extension JSONNode {
    /// Creates a node from a number or a Boolean of JSONSerialization.
    private init(_ number: NSNumber) {
        if let decimal = number as? NSDecimalNumber {
            self = decimal.decimalValue.__json
            return
        }
        switch String(cString: number.objCType) {
        // Foundation on Linux has a unique object for each Boolean, and another type for other 8-bit numbers.
        case "c" where number === NSNumber(value: true) || number === NSNumber(value: false), "B":
            self = .bool(number.boolValue)
        case "d", "f": self = .real(number.doubleValue)
        case "Q": self = number.uint64Value.__json
        default: self = .integer(number.int64Value)
        }
    }
}

extension ModelDefinition {
    /// Returns the index of a property by its name in Swift or on the wire.
    package func index(ofImported key: String) -> Int? {
        index(ofProperty: key) ?? properties.firstIndex { $0.wireName == key }
    }
}
