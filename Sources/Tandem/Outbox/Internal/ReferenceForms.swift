// A reference names an object by its local ID here, and by its server ID on the way to a server and back.

extension WriteTransaction {
    /// A property's stored value as it goes to a server: references by the server IDs of what they refer to, by the
    /// local ID of what has none yet.
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
                "SELECT \"serverID\" FROM \(target.quotedTable) WHERE \"localID\" = ?", [.text(id)])
            guard case .text(let serverID)? = found else { return id }
            return serverID
        }
    }

    /// A property's value as a server holds it, with references by local IDs: of what is here, deleted or not. What is
    /// not here keeps the server's ID.
    func localForm(_ value: StorageValue, of property: Int, in table: TableLayout) throws -> StorageValue {
        if !table.attachments.isEmpty, table.attachments(at: property) != nil {
            return try withoutPending(value, of: property, in: table)
        }
        return try replacingIDs(in: value, of: property, in: table) { id, target in
            let found = try connection.value(
                "SELECT \"localID\" FROM \(target.quotedTable) WHERE \"serverID\" = ?", [.text(id)])
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
    /// Reads what is stored; bytes that can't be read are a damaged store's.
    func readable<T>(_ read: () throws -> T) throws -> T {
        do {
            return try read()
        } catch let error as InvalidEncoding {
            throw TandemError(damage: error, store: store.path)
        }
    }
}
