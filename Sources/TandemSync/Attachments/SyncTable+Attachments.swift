import Tandem

/// What a server is sent of an attachment.
public enum AttachmentForm: Hashable, Sendable {
    /// An object of its ID, name, type, size, SHA-256 and URL; a text of the URL where that is all that the server has
    /// ever said of it.
    case object
    /// A text: the file's URL and nothing else, for tables whose other clients expect one. Other devices then know no
    /// size and no hash, and name and type by the URL alone.
    case urlText
}

extension SyncTable {
    /// Says what the server is sent of a property's attachment; an ``AttachmentForm/object``, if not said.
    ///
    /// For example:
    ///
    /// ```swift
    /// try sync.table(Receipt.self).setAttachments(\.photo, as: .urlText)
    /// ```
    ///
    /// Either form is read, whatever is said here. A property that is not optional can't be sent as a URL: before the
    /// upload there is none.
    ///
    /// - Parameters:
    ///   - property: A property of the model itself that is not local only.
    ///   - form: What is sent from now on. What the server has is not sent again for that.
    /// - Throws: ``SyncError/Code/unsendable`` if the property is another model's, or is never sent.
    public func setAttachments(
        _ property: KeyPath<M.Columns, Property<M, Attachment?>>, as form: AttachmentForm
    ) throws {
        try setAttachments(of: M.Columns()[keyPath: property].__column, as: form)
    }

    /// Says what the server is sent of a list's attachments: with ``AttachmentForm/urlText`` a list of texts.
    ///
    /// - Parameters:
    ///   - property: A list of attachments of the model itself that is not local only.
    ///   - form: What is sent from now on. What the server has is not sent again for that.
    /// - Throws: ``SyncError/Code/unsendable`` if the property is another model's, or is never sent.
    public func setAttachments(
        _ property: KeyPath<M.Columns, Property<M, [Attachment]>>, as form: AttachmentForm
    ) throws {
        try setAttachments(of: M.Columns()[keyPath: property].__column, as: form)
    }

    private func setAttachments(of column: ColumnPath, as form: AttachmentForm) throws {
        guard column.steps.isEmpty, let property = column.definition, !property.isLocalOnly else {
            throw SyncError(
                .unsendable, "The property is not sent with the table's objects.",
                advice: "Name a property of the model itself that is not local only.",
                table: M.__definition.wireName, property: column.definition?.wireName)
        }
        context.change(M.self) { $0.attachments[property.name] = form }
    }
}
