// A file that is not uploaded is an unsent change: no server has it, whatever its item contains. Sent and compared
// values omit it. The server's values are written with it added.

extension TableLayout {
    /// Returns the attachment column of a property, if it has one.
    func attachments(at property: Int) -> AttachmentColumn? {
        attachments.isEmpty ? nil : attachments.first { $0.property == property }
    }

    /// Returns the positions of properties, by their names in Swift. Returns none for a model without attachments,
    /// which does not need them.
    func indices(of names: Set<String>) -> Set<Int> {
        attachments.isEmpty
            ? [] : Set(definition.properties.indices.filter { names.contains(definition.properties[$0].name) })
    }
}

extension SyncTransaction {
    /// Returns the server's value of a property, with the pending local attachments added. In a list each follows its
    /// local predecessor.
    ///
    /// - Parameter here: The row's value.
    func withPending(
        _ value: StorageValue, here: StorageValue, of property: Int, in table: TableLayout
    ) throws -> StorageValue {
        guard let column = table.attachments(at: property), here != .null else { return value }
        let definition = table.definition.properties[property]
        let mine = try attachments(in: here, of: definition)
        guard mine.contains(where: { $0.serverURL == nil }) else { return value }
        var result = value == .null ? [] : try attachments(in: value, of: definition)
        guard column.isList else {
            // A file of another client was handled earlier, as a conflict.
            return result.isEmpty ? here : value
        }
        let there = Set(result.map(\.id))
        // The index after the local predecessor.
        var next = 0
        for attachment in mine {
            if attachment.serverURL == nil, !there.contains(attachment.id) {
                result.insert(attachment, at: next)
                next += 1
            } else {
                // A list may contain a file more than once. Each occurrence follows the one before it.
                let index =
                    result[next...].firstIndex { $0.id == attachment.id }
                    ?? result.lastIndex { $0.id == attachment.id }
                next = index.map { $0 + 1 } ?? result.count
            }
        }
        return storedValue(of: result, in: column)
    }

    /// A property of a row with attachments that wait to be uploaded.
    private struct PendingProperty {
        let property: Int
        let isList: Bool
        /// The row's value.
        let value: StorageValue
        /// The server's value otherwise. Equal to `value` if the file can't be omitted: the server then knows the file,
        /// and its bytes follow.
        let base: StorageValue
    }

    /// Returns the sent properties of a row with attachments that wait to be uploaded. A pending file exists only here.
    /// As in ``TableLayout/noPendingFilesSQL``, a file whose bytes are lost does not count.
    private func pendingProperties(of state: ObjectState, in table: TableLayout) throws -> [PendingProperty] {
        guard try !hasNoPendingFiles(state.rowID, in: table) else { return [] }
        let values = try valuesIncludingUnresolved(of: state, in: table)
        return try table.attachments.filter(\.isSent).compactMap { column in
            let value = values[column.property]
            let attachments = try attachments(in: value, of: table.definition.properties[column.property])
            guard try attachments.contains(where: { try connection.file($0.id)?.waits == true }) else { return nil }
            let base = try withoutPending(value, of: column.property, in: table)
            return PendingProperty(property: column.property, isList: column.isList, value: value, base: base)
        }
    }

    /// Queues an update for pending files that the server's item would remove. The conflict is then like any other.
    ///
    /// - Returns: The operation, or `nil` if there is no conflict.
    func recordPending(against item: ServerItem, state: ObjectState, in table: TableLayout) throws -> StoredOperation? {
        let lost = try pending(lostTo: item, state: state, in: table)
        guard !lost.isEmpty else { return nil }
        let bases = PropertyBases(lost.map { (table.definition.properties[$0.property].column, $0.base) })
        try transaction.recordUpdate(state, in: table, bases: bases)
        return try operation(of: state.rowID, in: table)
    }

    /// Returns the properties whose pending files the server's item would remove.
    private func pending(
        lostTo item: ServerItem, state: ObjectState, in table: TableLayout
    ) throws -> [PendingProperty] {
        try pendingProperties(of: state, in: table).filter { pending in
            if item.isDeleted { return true }
            let definition = table.definition.properties[pending.property]
            // Files that others add to the same list do not conflict. A client that replaced a file known to the server
            // has seen it.
            guard !pending.isList, pending.base != pending.value, let value = item.values[definition.name],
                value != .null, value != pending.base
            else { return false }
            return try attachments(in: value, of: definition).map(\.id)
                != attachments(in: pending.value, of: definition).map(\.id)
        }
    }

    /// Returns the pending values that are lost with a discarded operation, by the properties' names in Swift.
    func pendingValues(
        lostTo item: ServerItem, state: ObjectState, in table: TableLayout
    ) throws -> [String: StorageValue] {
        Dictionary(
            uniqueKeysWithValues: try pending(lostTo: item, state: state, in: table).map {
                (table.definition.properties[$0.property].name, $0.value)
            })
    }

    /// Returns a base without removed files: those detached before their upload.
    func withoutLost(_ value: StorageValue, of property: Int, in table: TableLayout) throws -> StorageValue {
        guard let column = table.attachments(at: property), value != .null else { return value }
        let definition = table.definition.properties[property]
        guard column.isList || definition.isOptional else { return value }
        let attachments = try attachments(in: value, of: definition)
        let known = try attachments.filter { try $0.serverURL != nil || connection.file($0.id) != nil }
        return known.count == attachments.count ? value : storedValue(of: known, in: column)
    }
}
