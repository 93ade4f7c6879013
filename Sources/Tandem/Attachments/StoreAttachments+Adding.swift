import Foundation

extension StoreAttachments {
    /// Copies a file into the store's folder, to be attached to an object.
    ///
    /// ```swift
    /// card.photo = try store.attachments.add(contentsOf: "photo.jpg")
    /// try store.write { try $0.update(card) }
    /// ```
    ///
    /// The file is complete and flushed when this returns, and is encrypted if the store is. It belongs to nobody until a
    /// transaction with the value is committed: if the last copy of the value goes before, or the store is closed, or the
    /// process dies, the file goes too. A transaction that is rolled back leaves the value as good as it was.
    ///
    /// - Parameters:
    ///   - path: The file's path. A symbolic link is followed. The file stays where it is.
    ///   - name: The name to keep; the file's own if left out. It names nothing on the disk.
    ///   - contentType: The media type; guessed by the ending of the name if left out.
    /// - Returns: The value for a property.
    /// - Throws: ``TandemError``: ``TandemError/Code/cannotOpen`` if it is no regular file that may be read;
    ///   ``TandemError/Code/fileChanged`` if it was changed meanwhile; ``TandemError/Code/diskFull``. Nothing is kept then.
    /// - Complexity: O(size of the file), in constant memory. No writer waits.
    public func add(contentsOf path: String, name: String? = nil, contentType: String? = nil) throws -> Attachment {
        let name = name ?? (path as NSString).lastPathComponent
        return try add(.path(path), name: name, contentType: contentType)
    }

    /// Copies the file of a file URL into the store's folder. See ``add(contentsOf:name:contentType:)-(String,_,_)``.
    public func add(contentsOf url: URL, name: String? = nil, contentType: String? = nil) throws -> Attachment {
        guard url.isFileURL else {
            throw TandemError(
                .cannotOpen, "The URL names no file of this device.", advice: "Download it first.", store: store.path)
        }
        return try add(contentsOf: url.path, name: name, contentType: contentType)
    }

    /// Puts bytes into a file in the store's folder, to be attached to an object. See
    /// ``add(contentsOf:name:contentType:)-(String,_,_)``.
    ///
    /// - Parameters:
    ///   - bytes: What the file is to hold; it may be empty.
    ///   - name: The name to keep. It names nothing on the disk.
    ///   - contentType: The media type; guessed by the ending of the name if left out.
    public func add(_ bytes: some ContiguousBytes, name: String, contentType: String? = nil) throws -> Attachment {
        try add(.bytes(bytes), name: name, contentType: contentType)
    }

    /// Writes what comes in pieces into a file in the store's folder, to be attached to an object. See
    /// ``add(contentsOf:name:contentType:)-(String,_,_)``.
    ///
    /// ```swift
    /// let scan = try await store.attachments.add(from: response.body, name: "scan.pdf")
    /// ```
    ///
    /// The next piece is asked for when the last one is written. If the sequence throws, or the task is cancelled, nothing
    /// is kept.
    ///
    /// - Parameters:
    ///   - pieces: The bytes, in order.
    ///   - name: The name to keep. It names nothing on the disk.
    ///   - contentType: The media type; guessed by the ending of the name if left out.
    public func add<Pieces: AsyncSequence>(
        from pieces: Pieces, name: String, contentType: String? = nil, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Attachment where Pieces.Element: ContiguousBytes {
        let taking = try located { try folderForAdding().taking() }
        for try await piece in pieces {
            try Task.checkCancellation()
            try located { try taking.write(piece) }
        }
        try Task.checkCancellation()
        return draft(try located { try taking.finish() }, name, contentType)
    }

    private func add(_ source: FileSource, name: String, contentType: String?) throws -> Attachment {
        draft(try located { try folderForAdding().take(source) }, name, contentType)
    }

    private func folderForAdding() throws -> FileFolder {
        try store.checkOpen()
        guard !store.configuration.isReadOnly else {
            throw TandemError(
                .readOnly, "The store was opened read-only.", advice: "Open it without Configuration.isReadOnly.",
                store: store.path)
        }
        return try store.fileFolder()
    }

    private func draft(_ taken: TakenFile, _ name: String, _ contentType: String?) -> Attachment {
        var generator = SystemRandomNumberGenerator()
        let attachment = Attachment(
            id: FileID.random(using: &generator), name: name, contentType: contentType ?? ContentType.guess(name),
            size: taken.size, sha256: FileDigest(taken.sha256))
        let draft = AttachmentDraft(attachment, taken, files: store.files)
        store.files.keep(draft)
        return attachment.kept(by: draft)
    }

    private func located<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            throw store.located(error)
        }
    }
}
