import Foundation

/// The pending operation of an object, with the values before the change, now, and on the server side by side.
///
/// ```swift
/// if let changes = try store.changes(of: card) {
///     print(changes.operation.kind, changes.operation.error?.message ?? "")
///     for change in changes.properties where change.isChanged {
///         print(change.property.name, change.base ?? .null, change.current, change.server ?? .null)
///     }
/// }
/// ```
public struct DynamicChanges: Sendable {
    /// A property in an operation.
    public struct Change: Sendable {
        /// The property.
        public let property: PropertyDefinition
        /// The value that the server last sent, or `nil` if the operation does not change the property. An insert has
        /// none.
        public let base: DynamicValue?
        /// The value in the store.
        public let current: DynamicValue
        /// The value of the server's item, or `nil` if no item is known or it has no such member. References are by
        /// server IDs. A member that is not a value of the property's kind is its JSON.
        public let server: DynamicValue?

        /// Whether the operation changes the property.
        public var isChanged: Bool { base != nil }
    }

    /// The operation.
    public let operation: PendingOperation
    /// The object in the store. It may be deleted.
    public let object: DynamicObject
    /// The properties that are sent, in the model's order.
    public let properties: [Change]
    /// The server's item as JSON, if a response or a pull left one with the operation.
    public let serverItem: Data?
}

extension Store {
    /// Returns the pending operation of an object with its values, or nil if the object has none.
    ///
    /// - Parameter object: The object, which is found by its local ID.
    /// - Throws: ``TandemError`` if the store can't be read.
    public func changes(of object: DynamicObject) throws -> DynamicChanges? {
        try changes(of: object.localID, in: object.model)
    }

    /// Returns the current operation of an operation's object with its values, or nil if the object has none.
    ///
    /// It is also nil if the store does not know the object or its model.
    package func changes(of operation: PendingOperation) throws -> DynamicChanges? {
        guard let model = models.first(where: { $0.name == operation.model }) else { return nil }
        return try changes(of: operation.localID, in: model)
    }

    private func changes(of localID: LocalID, in model: ModelDefinition) throws -> DynamicChanges? {
        try read { transaction in
            guard
                let current = try transaction.object(named: model.name, localID: localID, includingDeleted: true),
                let operation = try transaction.operation(on: localID, in: model.table)
            else { return nil }
            let deferred = try transaction.deferredItem(of: operation.id).map { Data($0.source) }
            let item = deferred ?? operation.error?.serverItem
            let members = item.flatMap(Self.members)
            let changes = zip(current.model.properties, current.storedValues).filter { !$0.0.isLocalOnly }.map {
                property, stored in
                DynamicChanges.Change(
                    property: property, base: operation.base[property.name].map { property.dynamicValue(of: $0) },
                    current: property.dynamicValue(of: stored),
                    server: members?[property.wireName].map { property.dynamicValue(ofMember: $0) })
            }
            return DynamicChanges(operation: operation, object: current, properties: changes, serverItem: item)
        }
    }

    /// Returns the pending operations of a model's objects, in the order of the queue.
    ///
    /// - Parameter model: The model's name in Swift.
    /// - Throws: ``TandemError/Code/unknownModel``, or another error if the store can't be read.
    public func operations(ofModel model: String) throws -> [PendingOperation] {
        try OperationReader(store: self).fetch(
            "WHERE o.\"table\" = ?", binding: [.text(try table(forModel: model).table)])
    }

    private static func members(_ item: Data) -> [String: JSONNode]? {
        let node = item.withUnsafeBytes { try? ExactJSON.parseForeign($0.bindMemory(to: UInt8.self)) }
        guard case .object(let members)? = node else { return nil }
        return Dictionary(members.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}

extension PropertyDefinition {
    /// Returns the value of a member of a server's item. A member of another kind becomes its JSON.
    fileprivate func dynamicValue(ofMember node: JSONNode) -> DynamicValue {
        if case .null = node { return .null }
        if let stored = storageValue(of: node) { return dynamicValue(of: stored) }
        var bytes: [UInt8] = []
        guard (try? ExactJSON.writeForeign(node, to: &bytes)) != nil else { return .null }
        return .json(String(decoding: bytes, as: UTF8.self))
    }
}
