/// An object in the form that an operation sends.
public struct OutgoingObject: Sendable {
    /// The operation.
    public let operation: Operation
    /// The object's server ID, or `nil` if the server is not known to have the object.
    public let serverID: ServerID?
    /// The version on which the changes were made.
    public let version: String?
    /// All sent properties, by their names in Swift, in their stored form. References have the IDs with which they are
    /// sent.
    public let values: [String: StorageValue]
    /// The properties that the operation changes, including those of an unanswered attempt. For an insert, all
    /// properties.
    public let changed: Set<String>
    /// The references among the values, including each reference in a list, in the order of the properties.
    public let references: [OutgoingReference]
    /// The members that the model does not know.
    public let extras: [UInt8]?
    /// The kinds of requests sent since the server's last response. The server may have executed them.
    public let attemptedKinds: AttemptedKinds

    /// Creates an object to be sent.
    public init(
        operation: Operation, serverID: ServerID?, version: String?, values: [String: StorageValue],
        changed: Set<String>, references: [OutgoingReference], extras: [UInt8]?, attemptedKinds: AttemptedKinds
    ) {
        self.operation = operation
        self.serverID = serverID
        self.version = version
        self.values = values
        self.changed = changed
        self.references = references
        self.extras = extras
        self.attemptedKinds = attemptedKinds
    }
}

/// A reference that is sent with an object.
public struct OutgoingReference: Hashable, Sendable {
    /// The server's knowledge of the target.
    public enum Target: Hashable, Sendable {
        /// The server knows the target.
        case known(ServerID)
        /// The target's insert is queued. The server does not know this ID until it acknowledges the insert.
        case unsent(Operation.ID, Operation.State)
        /// The target is not here: the server named it, or it was deleted.
        case unknown
    }

    /// The property's name in Swift.
    public let property: String
    /// The target's local ID.
    public let localID: LocalID
    /// The server's knowledge of the target.
    public let target: Target
    /// Whether the object can be sent without the reference.
    public let isOptional: Bool

    /// Creates a reference.
    public init(property: String, localID: LocalID, target: Target, isOptional: Bool) {
        self.property = property
        self.localID = localID
        self.target = target
        self.isOptional = isOptional
    }
}

extension WriteTransaction {
    /// Returns the object of an operation in the form that would be sent now.
    ///
    /// - Returns: `nil` if the operation is no longer in the queue.
    /// - Complexity: O(log *n*) for each reference, *n* objects in its table.
    package func outgoing(_ id: Operation.ID) throws -> OutgoingObject? {
        try checkUsable()
        guard let (stored, tableName, rowID) = try operation(id), let table = store.schema.table(named: tableName),
            let state = try state(ofRow: rowID, in: table), let operation = try store.operations.one(id)
        else { return nil }
        let whole = try wholeValues(of: state, in: table)
        var values: [String: StorageValue] = [:]
        var references: [OutgoingReference] = []
        for (index, property) in table.definition.properties.enumerated() where !property.isLocalOnly {
            values[property.name] = try wireForm(
                whole[index], of: index, in: table, over: stored.base(of: property.column))
            references += try self.references(in: whole[index], of: index, in: table)
        }
        let isWhole = stored.kind == .insert || stored.replaced == .insert
        return OutgoingObject(
            operation: operation, serverID: state.serverID, version: state.version, values: values,
            changed: isWhole ? Set(values.keys) : Set(operation.base.keys).union(operation.sent.keys),
            references: references, extras: try extras(of: state.localID, in: tableName),
            attemptedKinds: stored.attemptedKinds)
    }

    private func references(
        in value: StorageValue, of property: Int, in table: TableLayout
    ) throws -> [OutgoingReference] {
        guard case .text(let text) = value, let place = table.links.firstIndex(where: { $0.property == property })
        else { return [] }
        let target = table.linkTargets[place]
        let isToMany = table.links[place].isToMany
        let definition = table.definition.properties[property]
        let ids = isToMany ? try readable { try LinkList.parse(text) } : [LocalID(text)]
        return try ids.map { id in
            OutgoingReference(
                property: definition.name, localID: id, target: try self.target(id, in: target),
                isOptional: isToMany || definition.isOptional)
        }
    }

    private func target(_ id: LocalID, in table: TableLayout) throws -> OutgoingReference.Target {
        let statement = try connection.statement(
            "SELECT \"__rid\", \"serverID\" FROM \(table.quotedTable) WHERE \"localID\" = ?")
        statement.bind(1, id.rawValue)
        let row: (id: Int64, serverID: String?)?
        do {
            defer { statement.reset() }
            row = try statement.step() ? (statement.integer(0), try statement.optionalText(1)) : nil
        }
        guard let row else { return .unknown }
        if let serverID = row.serverID { return .known(ServerID(serverID)) }
        guard let operation = try operation(of: row.id, in: table) else { return .unknown }
        return .unsent(operation.id, operation.state)
    }
}
