// Until an attachment has been uploaded, the server keeps the replaced one. The base of the update contains it.

extension ReadTransaction {
    /// Returns a property's value without the attachments that wait to be uploaded.
    ///
    /// An attachment that the server has stays in the place of its replacement. A waiting attachment that replaced none
    /// stays if the property is not optional: it is sent without a URL.
    ///
    /// - Parameter base: The server's value before the change, if an operation has it.
    func withoutPending(
        _ value: StorageValue, of property: Int, in table: TableLayout, over base: StorageValue? = nil
    ) throws -> StorageValue {
        guard let column = table.attachments(at: property), value != .null else { return value }
        let definition = table.definition.properties[property]
        let here = try attachments(in: value, of: definition)
        guard here.contains(where: { $0.serverURL == nil }) else { return value }
        let before = try base.map { try attachments(in: $0, of: definition) } ?? []
        return storedValue(of: try sendable(here, over: before, column: column, property: definition), in: column)
    }

    private func sendable(
        _ here: [Attachment], over before: [Attachment], column: AttachmentColumn, property: PropertyDefinition
    ) throws -> [Attachment] {
        let kept = try retainedOnServer(for: here, from: before)
        guard column.isList || property.isOptional || !kept.isEmpty else { return here }
        return here.enumerated().compactMap { index, attachment in
            attachment.serverURL == nil ? kept[index] : attachment
        }
    }

    /// Returns the attachments that the server keeps until their replacements are uploaded, by the indices of the
    /// replacements.
    ///
    /// A file whose bytes are lost is never uploaded, so the server keeps none for it.
    private func retainedOnServer(for here: [Attachment], from before: [Attachment]) throws -> [Int: Attachment] {
        var kept: [Int: Attachment] = [:]
        for (index, earlier) in here.replaced(from: before) where earlier.serverURL != nil {
            guard here[index].serverURL == nil, try connection.file(here[index].id)?.waits == true else { continue }
            kept[index] = earlier
        }
        return kept
    }

    /// Returns whether a server keeps an attachment of a value until its local replacement is uploaded.
    func keepsReplaced(
        _ value: StorageValue, here: StorageValue, of property: Int, in table: TableLayout
    ) throws -> Bool {
        guard table.attachments(at: property) != nil, value != .null, here != .null else { return false }
        let definition = table.definition.properties[property]
        return try !retainedOnServer(
            for: attachments(in: here, of: definition), from: attachments(in: value, of: definition)
        ).isEmpty
    }

    /// Returns whether a server has the files of a local property, with the URLs of all.
    func hasSameFiles(_ there: StorageValue, here: StorageValue, of property: Int, in table: TableLayout) throws -> Bool
    {
        guard table.attachments(at: property) != nil, there != .null, here != .null else { return false }
        let definition = table.definition.properties[property]
        let theirs = try attachments(in: there, of: definition)
        guard theirs.allSatisfy({ $0.serverURL != nil }) else { return false }
        return try theirs.map(\.id) == attachments(in: here, of: definition).map(\.id)
    }

    // MARK: Operations

    /// The dependence of an update on files that wait to be uploaded.
    enum FileDependence {
        /// The update has changes to send now.
        case none
        /// The update adds files. Their URLs will make another update.
        case additions
        /// The update replaces files, which the server keeps until then.
        case replacements
    }

    func fileDependence(
        of operation: StoredOperation, onRow rowID: Int64, in table: TableLayout
    ) throws -> FileDependence {
        guard table.sendsFiles, operation.isUntriedUpdate else { return .none }
        var dependence = FileDependence.additions
        for entry in operation.changes.entries {
            guard let column = table.attachments.first(where: { $0.column == entry.column }) else { return .none }
            let property = table.definition.properties[column.property]
            let value = try connection.value(
                "SELECT \(column.column.quotedSQL) FROM \(table.quotedTable) WHERE \"__rid\" = ?",
                binding: [.integer(rowID)])
            let here = try attachments(in: value ?? .null, of: property)
            let before = try attachments(in: entry.value, of: property)
            let sent = try sendable(here, over: before, column: column, property: property)
            guard sent == (try sendable(before, over: [], column: column, property: property)) else { return .none }
            if sent != (try sendable(here, over: [], column: column, property: property)) { dependence = .replacements }
        }
        return dependence
    }

    /// Returns whether an update waits for files that replace others. It stays in the queue until one of them is
    /// uploaded.
    package func waitsForReplacements(_ id: PendingOperation.ID) throws -> Bool {
        try checkUsable()
        guard let (operation, tableName, rowID) = try self.operation(id),
            let table = store.schema.table(named: tableName)
        else { return false }
        return try fileDependence(of: operation, onRow: rowID, in: table) == .replacements
    }

    // MARK: Values

    func attachments(in value: StorageValue, of property: PropertyDefinition) throws -> [Attachment] {
        let node = try readable { try property.node(of: value) }
        return try node.elements.map { node in
            guard let attachment = Attachment(__json: node) else {
                throw TandemError(
                    .corrupt, message: "The store's record of an attachment is damaged.", advice: "Restore a backup.",
                    store: store.path, property: property.name)
            }
            return attachment
        }
    }

    func storedValue(of attachments: [Attachment], in column: AttachmentColumn) -> StorageValue {
        guard column.isList || !attachments.isEmpty else { return .null }
        let row = RowEncoder()
        row.append(json: column.isList ? .array(attachments.map(\.__json)) : attachments[0].__json)
        return row.value(at: 0)
    }
}

extension StoredOperation {
    /// Whether it is an update that surely has not reached the server.
    fileprivate var isUntriedUpdate: Bool {
        kind == .update && state == .pending && sent == nil && replaced == nil && attemptedKinds.isEmpty
            && !changes.isEmpty
    }
}
