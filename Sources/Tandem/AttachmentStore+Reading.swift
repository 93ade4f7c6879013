import Crypto
import Foundation

extension AttachmentStore {
    /// Returns all bytes of a file.
    ///
    /// ```swift
    /// let bytes = try store.attachments.data(of: photo)
    /// ```
    ///
    /// Inside a transaction it reads the transaction's own state, so that a file just attached is found.
    ///
    /// - Throws: ``TandemError``: ``TandemError/Code/attachmentNotHere`` if the file is not on this device;
    ///   ``TandemError/Code/unknownAttachment`` if the store does not know it, or its last object was removed;
    ///   ``TandemError/Code/corrupt`` if it was truncated, or changed in an encrypted store.
    /// - Complexity: O(size of the file), in time and memory. For large files use ``stream(of:)``.
    public func data(of attachment: Attachment) throws -> Data {
        let file = try open(attachment)
        return try store.located { try file.read(at: 0, count: Int(file.size)) }
    }

    /// Returns a sequence of a file's bytes in pieces of at most a mebibyte. Each piece is read when it is requested.
    ///
    /// - Throws: The errors of ``data(of:)``. The sequence throws errors found while reading.
    public func stream(of attachment: Attachment) throws -> AttachmentBytes {
        AttachmentBytes(file: try open(attachment), store: store)
    }

    /// Returns a handle for random access to a file. It stays valid if the attachment is removed meanwhile.
    ///
    /// - Throws: The errors of ``data(of:)``.
    public func reader(of attachment: Attachment) throws -> AttachmentReader {
        AttachmentReader(file: try open(attachment), store: store)
    }

    /// Returns the file's URL on the disk, for code that can only read files. Returns `nil` if the file is not on this
    /// device.
    ///
    /// It is the store's own file: a change damages the attachment, and the store may remove it. **In an encrypted
    /// store it is encrypted**: ``export(_:to:)`` makes a decrypted copy.
    ///
    /// - Throws: ``TandemError/Code/unknownAttachment`` if the store does not know it, or its last object was removed;
    ///   ``TandemError/Code/corrupt`` if it is not a regular file, ``TandemError/Code/closed``.
    public func diskURL(of attachment: Attachment) throws -> URL? {
        try store.checkOpen()
        let folder = try store.fileFolder()
        for isNewest in [false, true] {
            guard let place = try location(of: attachment, newest: isNewest) else { return nil }
            if try folder.contains(place.blob) { return URL(fileURLWithPath: folder.path(of: place.blob)) }
        }
        return nil
    }

    /// Copies a file out of the store, decrypted.
    ///
    /// - Parameters:
    ///   - attachment: The attachment of the file.
    ///   - path: The copy's path. An existing file is replaced when the copy is complete and flushed.
    /// - Throws: The errors of ``data(of:)``, and an error if the copy can't be written. An existing file is then
    ///   unchanged.
    /// - Complexity: O(size of the file), in constant memory.
    public func export(_ attachment: Attachment, to path: String) throws {
        let file = try open(attachment)
        try store.located {
            let exported = try ExportedFile(path)
            try file.eachPiece(of: AttachmentBytes.pieceSize) { try exported.write($0) }
            try exported.moveIntoPlace()
        }
    }

    /// Reads the whole file, and compares its size and hash with the attachment's.
    ///
    /// - Throws: ``TandemError``: ``TandemError/Code/fileMismatch`` if its size or hash differs, and the errors of
    ///   ``data(of:)``.
    /// - Complexity: O(size of the file), in constant memory.
    public func verify(_ attachment: Attachment) throws {
        let file = try open(attachment)
        var hash = SHA256()
        try store.located { try file.eachPiece(of: AttachmentBytes.pieceSize) { hash.update(data: $0) } }
        let digest = FileDigest(hash.finalize())
        let isRight = attachment.size.map { $0 == file.size } ?? true && attachment.sha256.map { $0 == digest } ?? true
        guard isRight else {
            throw TandemError(
                .fileMismatch, message: "The file of the attachment \(attachment.id) is not the one that was attached.",
                advice: "If a server has it, evict it and download it again, or restore a backup.", store: store.path)
        }
    }

    // MARK: -

    /// Returns the location of a file, or `nil` if it is not on this device.
    ///
    /// - Parameter isNewest: Whether to read the newest committed state, and not the snapshot of a read block.
    private func location(of attachment: Attachment, newest isNewest: Bool) throws -> (blob: BlobName, isSealed: Bool)?
    {
        if let row = try row(of: attachment.id, newest: isNewest) {
            guard let text = row.blob else { return nil }
            guard let blob = BlobName(text) else {
                throw TandemError(
                    .corrupt, message: "The store's record of the attachment \(attachment.id) is damaged.",
                    advice: "Restore a backup.", store: store.path)
            }
            return (blob, row.isSealed)
        }
        if let draft = draft(of: attachment) { return (draft.blob, draft.isSealed) }
        if attachment.serverURL != nil { return nil }
        throw unknown(attachment)
    }

    func open(_ attachment: Attachment) throws -> BlobReader {
        try store.checkOpen()
        let folder = try store.located { try store.fileFolder() }
        var place = try location(of: attachment, newest: false)
        var tried: BlobName?
        while let found = place {
            do {
                let file = try folder.open(found.blob, sealed: found.isSealed)
                store.files.recordUse(of: attachment.id, at: store.configuration.now())
                return file
            } catch let error as TandemError where error.code == .corrupt && tried != found.blob {
                // The file may just have been encrypted under another name, evicted, or removed with its last object. A
                // read block that began earlier does not see that.
                tried = found.blob
                place = try self.location(of: attachment, newest: true)
            } catch {
                throw store.located(error)
            }
        }
        throw TandemError(
            .attachmentNotHere, message: "The file of the attachment \(attachment.id) is not on this device.",
            advice: "Download it.", store: store.path)
    }
}
