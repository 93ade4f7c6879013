import Crypto
import Foundation

extension StoreAttachments {
    /// A file's bytes, all at once.
    ///
    /// ```swift
    /// let bytes = try store.attachments.data(of: photo)
    /// ```
    ///
    /// Inside a transaction it is the transaction's own state that is asked, so that a file just attached is found.
    ///
    /// - Throws: ``TandemError``: ``TandemError/Code/attachmentNotHere`` if the file is not on this device;
    ///   ``TandemError/Code/unknownAttachment`` if the store does not know it, or its last object is gone;
    ///   ``TandemError/Code/corrupt`` if it was cut, or changed in an encrypted store.
    /// - Complexity: O(size of the file), which is held in memory: for large ones ``stream(of:)``.
    public func data(of attachment: Attachment) throws -> Data {
        let file = try open(attachment)
        return try located { try file.read(at: 0, count: Int(file.size)) }
    }

    /// A file's bytes in pieces of at most a mebibyte. The next one is read when it is asked for.
    ///
    /// - Throws: As ``data(of:)``; what is found while reading is thrown by the sequence.
    public func stream(of attachment: Attachment) throws -> AttachmentBytes {
        AttachmentBytes(file: try open(attachment), store: store)
    }

    /// A handle on a file, to read any part of it. It stays good when the attachment goes meanwhile.
    ///
    /// - Throws: As ``data(of:)``.
    public func reader(of attachment: Attachment) throws -> AttachmentReader {
        AttachmentReader(file: try open(attachment), store: store)
    }

    /// Where a file lies on the disk, for those who can read files only; `nil` if it is not on this device.
    ///
    /// It is the store's own file: whoever changes it damages the attachment, and it goes when the store says so. **In an
    /// encrypted store it is encrypted**: ``export(_:to:)`` makes a copy in the clear.
    ///
    /// - Throws: ``TandemError/Code/unknownAttachment`` if the store does not know it, or its last object is gone;
    ///   ``TandemError/Code/corrupt`` if what lies there is no file, ``TandemError/Code/closed``.
    public func diskURL(of attachment: Attachment) throws -> URL? {
        try store.checkOpen()
        let folder = try store.fileFolder()
        for isNewest in [false, true] {
            guard let place = try place(of: attachment, newest: isNewest) else { return nil }
            if try folder.contains(place.blob) { return URL(fileURLWithPath: folder.path(of: place.blob)) }
        }
        return nil
    }

    /// Copies a file out of the store, in the clear.
    ///
    /// - Parameter path: The copy's path. A file that is there is replaced when the copy is complete and flushed.
    /// - Throws: As ``data(of:)``, and if the copy can't be written. What was there is as it was then.
    /// - Complexity: O(size of the file), in constant memory.
    public func export(_ attachment: Attachment, to path: String) throws {
        let file = try open(attachment)
        try located {
            let exported = try ExportedFile(path)
            try file.eachPiece(of: AttachmentBytes.pieceSize) { try exported.write($0) }
            try exported.moveIntoPlace()
        }
    }

    /// Reads a file to its end, and compares it with what the attachment says of it.
    ///
    /// - Throws: ``TandemError``: ``TandemError/Code/fileMismatch`` if its size or its hash is another, and what
    ///   ``data(of:)`` throws.
    /// - Complexity: O(size of the file), in constant memory.
    public func verify(_ attachment: Attachment) throws {
        let file = try open(attachment)
        var hash = SHA256()
        try located { try file.eachPiece(of: AttachmentBytes.pieceSize) { hash.update(data: $0) } }
        let digest = FileDigest(hash.finalize())
        let isRight = attachment.size.map { $0 == file.size } ?? true && attachment.sha256.map { $0 == digest } ?? true
        guard isRight else {
            throw TandemError(
                .fileMismatch, "The file of the attachment \(attachment.id) is not the one that was attached.",
                advice: "If a server has it, evict it and download it again, or restore a backup.", store: store.path)
        }
    }

    // MARK: -

    /// Where a file is; `nil` if it is not on this device.
    ///
    /// - Parameter isNewest: Whether the store as it is by now is asked, and not the state that a read block sees.
    private func place(of attachment: Attachment, newest isNewest: Bool) throws -> (blob: BlobName, isSealed: Bool)? {
        let look = { (connection: Connection) in try located(by: connection, attachment.id) }
        if let row = try isNewest ? store.readingNewest(look) : store.reading(look) {
            guard let text = row.blob else { return nil }
            guard let blob = BlobName(text) else {
                throw TandemError(
                    .corrupt, "What the store says of the attachment \(attachment.id) is damaged.",
                    advice: "Restore a backup.", store: store.path)
            }
            return (blob, row.isSealed)
        }
        if let draft = attachment.draft ?? store.files.draft(attachment.id), draft.belongs(to: store.files),
            !draft.isAdopted
        {
            return (draft.blob, draft.isSealed)
        }
        if attachment.serverURL != nil { return nil }
        throw TandemError(
            .unknownAttachment, "The store does not know the attachment \(attachment.id), or its last object is gone.",
            advice: "Read the object again.", store: store.path)
    }

    private func located(by connection: Connection, _ id: FileID) throws -> FileRow? {
        try located { try connection.file(id) }
    }

    func open(_ attachment: Attachment) throws -> FileReading {
        try store.checkOpen()
        let folder = try located { try store.fileFolder() }
        var place = try place(of: attachment, newest: false)
        var tried: BlobName?
        while let found = place {
            do {
                let file = try folder.open(found.blob, sealed: found.isSealed)
                store.files.noteUse(of: attachment.id, at: store.configuration.now())
                return file
            } catch let error as TandemError where error.code == .corrupt && tried != found.blob {
                // It may just have been encrypted under another name, have left the cache, or have gone with its last
                // object, which a read block that began before does not see.
                tried = found.blob
                place = try self.place(of: attachment, newest: true)
            } catch {
                throw store.located(error)
            }
        }
        throw TandemError(
            .attachmentNotHere, "The file of the attachment \(attachment.id) is not on this device.",
            advice: "Download it.", store: store.path)
    }

    private func located<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch {
            throw store.located(error)
        }
    }
}
