import Foundation

extension AttachmentStore {
    /// Copies a file into the store's folder, to be attached to an object.
    ///
    /// ```swift
    /// card.photo = try store.attachments.add(contentsOf: "photo.jpg")
    /// try store.write { try $0.update(card) }
    /// ```
    ///
    /// When the method returns, the file is complete, flushed, and encrypted if the store is. It has no owner until a
    /// transaction with the value is committed. A file without an owner is removed with the last copy of the value. It
    /// is also removed when the store closes, or if the process dies. A rollback does not invalidate the value.
    ///
    /// - Parameters:
    ///   - path: The file's path. A symbolic link is followed. The original file stays.
    ///   - name: The attachment's name. The default is the file's name. It is not a name on the disk.
    ///   - contentType: The media type. The default is derived from the name's extension.
    /// - Returns: The value for a property.
    /// - Throws: ``TandemError``: ``TandemError/Code/cannotOpen`` if it is not a readable regular file;
    ///   ``TandemError/Code/fileChanged`` if it changed meanwhile; ``TandemError/Code/diskFull``. The store is then
    ///   unchanged.
    /// - Complexity: O(size of the file), in constant memory. It does not block writers.
    public func add(contentsOf path: String, name: String? = nil, contentType: String? = nil) throws -> Attachment {
        let name = name ?? (path as NSString).lastPathComponent
        return try add(.path(path), name: name, contentType: contentType)
    }

    /// Copies the file of a file URL into the store's folder. See ``add(contentsOf:name:contentType:)-(String,_,_)``.
    ///
    /// - Parameters:
    ///   - url: The URL of the file to copy.
    ///   - name: The attachment's name; by default that of the file.
    ///   - contentType: The media type. The default is derived from the name's extension.
    /// - Throws: The errors of ``add(contentsOf:name:contentType:)-(String,_,_)``.
    public func add(contentsOf url: URL, name: String? = nil, contentType: String? = nil) throws -> Attachment {
        guard url.isFileURL else {
            throw TandemError(
                .cannotOpen, message: "The URL does not name a file on this device.", advice: "Download it first.",
                store: store.path)
        }
        return try add(contentsOf: url.path, name: name, contentType: contentType)
    }

    /// Writes bytes into a file in the store's folder, to be attached to an object. See
    /// ``add(contentsOf:name:contentType:)-(String,_,_)``.
    ///
    /// - Parameters:
    ///   - bytes: The file's content, which may be empty.
    ///   - name: The attachment's name. It is not a name on the disk.
    ///   - contentType: The media type. The default is derived from the name's extension.
    /// - Throws: The errors of ``add(contentsOf:name:contentType:)-(String,_,_)``.
    public func add(_ bytes: some ContiguousBytes, name: String, contentType: String? = nil) throws -> Attachment {
        try add(.bytes(bytes), name: name, contentType: contentType)
    }

    /// Writes a sequence of pieces into a file in the store's folder, to be attached to an object. See
    /// ``add(contentsOf:name:contentType:)-(String,_,_)``.
    ///
    /// ```swift
    /// let scan = try await store.attachments.add(from: response.body, name: "scan.pdf")
    /// ```
    ///
    /// Each piece is requested when the previous one is written. If the sequence throws, or the task is cancelled, the
    /// file is discarded.
    ///
    /// - Parameters:
    ///   - pieces: The bytes, in order.
    ///   - name: The attachment's name. It is not a name on the disk.
    ///   - contentType: The media type. The default is derived from the name's extension.
    ///   - isolation: The actor on which the sequence is iterated. The default is the caller's actor.
    /// - Throws: The errors of ``add(contentsOf:name:contentType:)-(String,_,_)``, those of the sequence, and
    ///   `CancellationError`.
    public func add<Pieces: AsyncSequence>(
        from pieces: Pieces, name: String, contentType: String? = nil, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Attachment where Pieces.Element: ContiguousBytes {
        let writer = try store.located { try folderForAdding().makeWriter() }
        for try await piece in pieces {
            try Task.checkCancellation()
            try store.located { try writer.write(piece) }
        }
        try Task.checkCancellation()
        return draft(try store.located { try writer.finish() }, name: name, contentType: contentType)
    }

    private func add(_ source: FileSource, name: String, contentType: String?) throws -> Attachment {
        draft(try store.located { try folderForAdding().add(source) }, name: name, contentType: contentType)
    }

    private func folderForAdding() throws -> FileFolder {
        try store.checkOpen()
        guard !store.configuration.isReadOnly else {
            throw TandemError(
                .readOnly, message: "The store was opened read-only.",
                advice: "Open it without Configuration.isReadOnly.",
                store: store.path)
        }
        return try store.fileFolder()
    }

    private func draft(_ stored: StoredBlob, name: String, contentType: String?) -> Attachment {
        var generator = SystemRandomNumberGenerator()
        let attachment = Attachment(
            id: FileID.random(using: &generator), name: name, contentType: contentType ?? ContentType.guess(name),
            size: stored.size, sha256: FileDigest(stored.sha256))
        let draft = AttachmentDraft(attachment, stored: stored, files: store.files)
        store.files.register(draft)
        return attachment.retained(by: draft)
    }
}
