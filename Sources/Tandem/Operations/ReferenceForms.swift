// A reference names an object by its local ID here, and by its server ID in requests and responses.

extension ReadTransaction {
    /// Returns a property's stored value in the form that is sent. References name server IDs, or the local ID of a
    /// target that has no server ID yet.
    ///
    /// - Parameter base: The server's value before the change, if an operation has it.
    func wireForm(
        _ value: StorageValue, of property: Int, in table: TableLayout, over base: StorageValue? = nil
    ) throws -> StorageValue {
        if !table.attachments.isEmpty, table.attachments(at: property) != nil {
            return try withoutPending(value, of: property, in: table, over: base)
        }
        return try replacingIDs(in: value, of: property, in: table) { id, target in
            let found = try connection.value(
                "SELECT \"serverID\" FROM \(target.quotedTable) WHERE \"localID\" = ?", binding: [.text(id)])
            guard case .text(let serverID)? = found else { return id }
            return serverID
        }
    }

    /// Returns a property's value on the server in its local form. References name the local IDs of existing targets,
    /// deleted or not. Unknown targets keep their server IDs.
    func localForm(_ value: StorageValue, of property: Int, in table: TableLayout) throws -> StorageValue {
        if !table.attachments.isEmpty, table.attachments(at: property) != nil {
            return try withoutPending(value, of: property, in: table)
        }
        return try replacingIDs(in: value, of: property, in: table) { id, target in
            let found = try connection.value(
                "SELECT \"localID\" FROM \(target.quotedTable) WHERE \"serverID\" = ?", binding: [.text(id)])
            guard case .text(let localID)? = found else { return id }
            return localID
        }
    }

    private func replacingIDs(
        in value: StorageValue, of property: Int, in table: TableLayout,
        _ replacement: (String, TableLayout) throws -> String
    ) throws -> StorageValue {
        guard case .text(let text) = value, let place = table.links.firstIndex(where: { $0.property == property })
        else { return value }
        let target = table.linkTargets[place]
        guard table.links[place].isToMany else { return .text(try replacement(text, target)) }
        let ids = try readable { try LinkList.parse(text) }
        return .text(LinkList.text(try ids.map { LocalID(try replacement($0.rawValue, target)) }))
    }
}

extension ReadTransaction {
    /// Reads stored bytes. Reports unreadable bytes as damage of the store.
    func readable<T>(_ read: () throws -> T) throws -> T {
        do {
            return try read()
        } catch let error as InvalidEncoding {
            throw TandemError(damage: error, store: store.path)
        }
    }
}
