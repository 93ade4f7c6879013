// A file that has not been uploaded is a change that has not been sent: no server knows of it, whatever it says of the
// property. What is sent and compared has it left out; what a server says is written with it kept.

extension TableLayout {
    /// The attachments of a property, if that is what it holds.
    func attachments(at property: Int) -> AttachmentColumn? {
        attachments.isEmpty ? nil : attachments.first { $0.property == property }
    }

    /// The places of properties, by their names in Swift; none for a model without attachments, which has no use for
    /// them.
    func places(of names: Set<String>) -> Set<Int> {
        attachments.isEmpty
            ? [] : Set(definition.properties.indices.filter { names.contains(definition.properties[$0].name) })
    }
}

extension WriteTransaction {
    /// What a server holds of a property, with the attachments that wait here to be uploaded: in a list each after the
    /// one that it follows here.
    ///
    /// - Parameter here: What the row holds.
    func withPending(
        _ value: StorageValue, here: StorageValue, of property: Int, in table: TableLayout
    ) throws -> StorageValue {
        guard let column = table.attachments(at: property), here != .null else { return value }
        let definition = table.definition.properties[property]
        let mine = try attachments(in: here, of: definition)
        guard mine.contains(where: { $0.serverURL == nil }) else { return value }
        var result = value == .null ? [] : try attachments(in: value, of: definition)
        guard column.isList else {
            // What somebody else has put there was met before, as a conflict.
            return result.isEmpty ? here : value
        }
        // A list may hold a file more than once.
        let there = Set(result.map(\.id))
        var previous: FileID?
        for attachment in mine {
            if attachment.serverURL == nil, !there.contains(attachment.id) {
                let place = previous.flatMap { id in result.lastIndex { $0.id == id } }
                result.insert(attachment, at: place.map { $0 + 1 } ?? (previous == nil ? 0 : result.count))
            }
            previous = attachment.id
        }
        return storedValue(of: result, column)
    }

    /// A property of a row in which attachments wait to be uploaded.
    private struct PendingProperty {
        let property: Int
        let isList: Bool
        /// What the row holds.
        let value: StorageValue
        /// What a server holds of it otherwise. The same if it can't be left out: then the server was told of the file,
        /// and has its bytes to come.
        let base: StorageValue
    }

    /// The properties of a row in which attachments that are sent wait to be uploaded. What waits is here, and nowhere
    /// else: a file whose bytes are lost is none of them, as in ``TableLayout/filesSettledSQL``.
    private func pendingProperties(of state: ObjectState, in table: TableLayout) throws -> [PendingProperty] {
        guard try !areFilesSettled(state.rowID, table) else { return [] }
        let values = try wholeValues(of: state, in: table)
        return try table.attachments.filter(\.isSent).compactMap { column in
            let value = values[column.property]
            let attachments = try attachments(in: value, of: table.definition.properties[column.property])
            guard try attachments.contains(where: { try connection.file($0.id)?.waits == true }) else { return nil }
            let base = try withoutPending(value, of: column.property, in: table)
            return PendingProperty(property: column.property, isList: column.isList, value: value, base: base)
        }
    }

    /// Has what waits to be uploaded be a change to be sent, where what a server says would take it away: the conflict
    /// is then one like any other.
    ///
    /// - Returns: The operation; `nil` if nothing is in the way.
    func recordPending(against item: ServerItem, _ state: ObjectState, _ table: TableLayout) throws -> StoredOperation?
    {
        let lost = try pending(lostTo: item, state, table)
        guard !lost.isEmpty else { return nil }
        let bases = PropertyBases(lost.map { (table.definition.properties[$0.property].column, $0.base) })
        try asApp { try recordUpdate(state, table, bases) }
        return try operation(of: state.rowID, in: table)
    }

    /// The properties with what waits to be uploaded that what a server says would take away.
    private func pending(
        lostTo item: ServerItem, _ state: ObjectState, _ table: TableLayout
    ) throws -> [PendingProperty] {
        try pendingProperties(of: state, in: table).filter { pending in
            if item.isDeleted { return true }
            let definition = table.definition.properties[pending.property]
            // What others have put on the same list stands beside it. A file that the server was told of was seen by who
            // has put another in its place.
            guard !pending.isList, pending.base != pending.value, let value = item.values[definition.name],
                value != .null, value != pending.base
            else { return false }
            return try attachments(in: value, of: definition).map(\.id)
                != attachments(in: pending.value, of: definition).map(\.id)
        }
    }

    /// What waits to be uploaded and is given up with an operation, by the properties' names in Swift.
    func pendingValues(
        lostTo item: ServerItem, _ state: ObjectState, _ table: TableLayout
    ) throws -> [String: StorageValue] {
        Dictionary(
            uniqueKeysWithValues: try pending(lostTo: item, state, table).map {
                (table.definition.properties[$0.property].name, $0.value)
            })
    }

    /// A base without the files that are no more: what was attached, and taken back before it was uploaded.
    func withoutLost(_ value: StorageValue, of property: Int, in table: TableLayout) throws -> StorageValue {
        guard let column = table.attachments(at: property), value != .null else { return value }
        let definition = table.definition.properties[property]
        guard column.isList || definition.isOptional else { return value }
        let attachments = try attachments(in: value, of: definition)
        let known = try attachments.filter { try $0.serverURL != nil || connection.file($0.id) != nil }
        return known.count == attachments.count ? value : storedValue(of: known, column)
    }
}
