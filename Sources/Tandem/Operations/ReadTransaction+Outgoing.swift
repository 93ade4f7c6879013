/// An object as an operation sends it.
package struct OutgoingObject: Sendable {
    /// The operation.
    package let operation: PendingOperation
    /// The object's ID on the server, or `nil` if the server is not known to have it.
    package let serverID: ServerID?
    /// The version on which the changes are based.
    package let version: String?
    /// All properties that are sent, in their stored form, by their names in Swift. References have the IDs with which
    /// they are sent.
    package let values: [String: StorageValue]
    /// The properties that the operation changes, including those of an attempt without a response. All properties for
    /// an insert.
    package let changed: Set<String>
    /// The references among the values, in the order of the properties. The elements of lists are separate.
    package let references: [OutgoingReference]
    /// The members that the model does not know.
    package let extras: [UInt8]?
    /// The requests sent since the server's last response, which the server may have executed.
    package let attemptedKinds: AttemptedKinds
    /// The rows from which it was read, or `nil` if it is not from a store.
    var rows: OutgoingRows?

    /// Creates an object as it would be sent.
    package init(
        operation: PendingOperation, serverID: ServerID?, version: String?, values: [String: StorageValue],
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

/// The rows of an object and its operation, so that an attempt does not read them again.
struct OutgoingRows: Sendable {
    let operation: StoredOperation
    /// All values in the order of the properties, with references by local IDs.
    let values: [StorageValue]
}

/// A reference of an object to be sent.
package struct OutgoingReference: Hashable, Sendable {
    /// The server's knowledge of the referenced object.
    package enum Target: Hashable, Sendable {
        /// The server has stored the object under this ID.
        case known(ServerID)
        /// The target's insert is queued. The server does not know this ID until it acknowledges the insert.
        case unsent(PendingOperation.ID, state: PendingOperation.State)
        /// The target does not exist here: the server named it, or it was deleted.
        case unknown
    }

    /// The property's name in Swift.
    package let property: String
    /// The local ID of the referenced object.
    package let localID: LocalID
    /// The server's knowledge of that object.
    package let target: Target

    /// Creates a reference.
    package init(property: String, localID: LocalID, target: Target) {
        self.property = property
        self.localID = localID
        self.target = target
    }
}

extension ReadTransaction {
    /// Returns the object of an operation in the form that would be sent now.
    ///
    /// - Returns: `nil` if the operation is no longer in the queue.
    /// - Complexity: O(log *n*) for each reference, *n* objects in its table.
    package func outgoing(_ id: PendingOperation.ID) throws -> OutgoingObject? {
        try checkUsable()
        guard let (stored, tableName, rowID) = try operation(id), let table = store.schema.table(named: tableName),
            let (state, whole) = try storedRow(where: "__rid", is: .integer(rowID), in: table),
            let operation = try OperationReader(store: store).operation(id)
        else { return nil }
        var values: [String: StorageValue] = [:]
        var references: [OutgoingReference] = []
        for (index, property) in table.definition.properties.enumerated() where !property.isLocalOnly {
            values[property.name] = try wireForm(
                whole[index], of: index, in: table, over: stored.base(of: property.column))
            references += try self.references(in: whole[index], of: index, in: table)
        }
        let isWhole = stored.kind == .insert || stored.replaced == .insert
        var object = OutgoingObject(
            operation: operation, serverID: state.serverID, version: state.version, values: values,
            changed: isWhole ? Set(values.keys) : Set(operation.base.keys).union(operation.sent.keys),
            references: references, extras: try extras(of: state.localID, in: tableName),
            attemptedKinds: stored.attemptedKinds)
        object.rows = OutgoingRows(operation: stored, values: whole)
        return object
    }

    private func references(
        in value: StorageValue, of property: Int, in table: TableLayout
    ) throws -> [OutgoingReference] {
        guard case .text(let text) = value, let place = table.links.firstIndex(where: { $0.property == property })
        else { return [] }
        let target = table.linkTargets[place]
        let name = table.definition.properties[property].name
        let ids = table.links[place].isToMany ? try readable { try LinkList.parse(text) } : [LocalID(text)]
        return try ids.map { id in
            OutgoingReference(property: name, localID: id, target: try self.target(id, in: target))
        }
    }

    private func target(_ id: LocalID, in table: TableLayout) throws -> OutgoingReference.Target {
        let sql = "SELECT \"__rid\", \"serverID\" FROM \(table.quotedTable) WHERE \"localID\" = ?"
        let found = try connection.rows(sql, binding: [.text(id.rawValue)]) {
            ($0.integer(0), try $0.optionalText(1))
        }
        guard let (row, serverID) = found.first else { return .unknown }
        if let serverID { return .known(ServerID(serverID)) }
        guard let operation = try operation(of: row, in: table) else { return .unknown }
        return .unsent(operation.id, state: operation.state)
    }
}
