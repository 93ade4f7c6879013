import Tandem

extension SyncTable {
    /// Sets the form in which a property's attachment is sent. The default is ``AttachmentForm/object``.
    ///
    /// For example:
    ///
    /// ```swift
    /// try sync.table(Receipt.self).setAttachments(\.photo, as: .urlText)
    /// ```
    ///
    /// Both forms are decoded in any case. A required property can't be sent as a URL: a file has no URL before its
    /// upload.
    ///
    /// - Parameters:
    ///   - property: A property of the model itself that is not local only.
    ///   - form: The form from now on. Values that the server already has are not sent again.
    /// - Throws: ``SyncError/Code/notEncodable`` if the property belongs to another model or is local-only.
    public func setAttachments(
        _ property: KeyPath<M.Columns, Property<M, Attachment?>>, as form: AttachmentForm
    ) throws {
        try setAttachments(of: M.Columns()[keyPath: property].__column, as: form)
    }

    /// Sets the form in which a list of attachments is sent. With ``AttachmentForm/urlText`` it is a list of texts.
    ///
    /// - Parameters:
    ///   - property: A list of attachments of the model itself that is not local only.
    ///   - form: The form from now on. Values that the server already has are not sent again.
    /// - Throws: ``SyncError/Code/notEncodable`` if the property belongs to another model or is local-only.
    public func setAttachments(
        _ property: KeyPath<M.Columns, Property<M, [Attachment]>>, as form: AttachmentForm
    ) throws {
        try setAttachments(of: M.Columns()[keyPath: property].__column, as: form)
    }

    private func setAttachments(of column: ColumnPath, as form: AttachmentForm) throws {
        guard column.steps.isEmpty, let property = column.definition, !property.isLocalOnly else {
            throw SyncError(
                .notEncodable, message: "The property is not sent with the table's objects.",
                advice: "Name a property of the model itself that is not local only.",
                table: M.__definition.wireName, property: column.definition?.wireName)
        }
        context.change(M.self) { $0.attachments[property.name] = form }
    }
}
