import Foundation

extension AttachmentStore {
    /// A file that is being downloaded. It is installed when it is complete and matches the store's values.
    package struct Download: Sendable {
        /// The source of the download.
        package let source: DownloadSource
        let writer: BlobWriter
        let store: Store

        /// Appends bytes.
        ///
        /// - Throws: ``TandemError/Code/fileMismatch`` once they exceed the file's size.
        package func write(_ bytes: some ContiguousBytes) throws { try writer.write(bytes) }

        /// Checks size and hash, and installs the file.
        ///
        /// - Returns: Whether the file was installed. If not, the store knows another file by that ID, or none, or
        ///   already has it. The download is then discarded.
        /// - Throws: ``TandemError/Code/fileMismatch`` if it is another file. The download is then discarded.
        package func finish() throws -> Bool {
            let stored = try writer.finish(expecting: source.size, sha256: source.sha256?.bytes)
            var isInstalled = false
            defer { if !isInstalled { store.files.remove([stored.blob]) } }
            isInstalled = try store.write { try $0.install(stored, from: source) }
            if isInstalled { store.files.recordFetched(source.id) }
            try? store.attachments.trimCache()
            return isInstalled
        }

        /// Returns whether the store's values of the file have changed since. An error of the download is then
        /// irrelevant.
        package func isOutdated() throws -> Bool {
            try store.attachments.row(of: source.id)?.source(in: store) != source
        }
    }

    /// Begins a download of a file that is not on this device. The store's current values decide its source and checks:
    /// the given value may be older. A file that is missing or truncated in the folder is downloaded too.
    ///
    /// - Parameter limit: The maximum number of bytes if the size is unknown.
    /// - Returns: `nil` if the file is on this device.
    /// - Throws: ``TandemError/Code/unknownAttachment`` if the store does not know it, or its last object was removed;
    ///   ``TandemError/Code/attachmentNotHere`` if no server is known to have it.
    package func download(_ attachment: Attachment, atMost limit: Int64 = .max) throws -> Download? {
        try store.checkOpen()
        guard var row = try row(of: attachment.id) else {
            if draft(of: attachment) != nil { return nil }
            throw unknown(attachment)
        }
        // A file that waits for its upload exists nowhere else, whether it is complete or not.
        if row.state == .uploaded, let text = row.blob, try !store.fileFolder().isWhole(text, of: row) {
            try store.write { _ = try $0.evict(row.attachment.id, only: text) }
            guard let newest = try self.row(of: row.attachment.id) else { throw unknown(attachment) }
            row = newest
        }
        guard let source = try row.source(in: store) else { return nil }
        let writer = try store.fileFolder().makeWriter(atMost: source.size ?? max(0, limit))
        return Download(source: source, writer: writer, store: store)
    }

    /// Removes a file from this device that a server has, to free space or to replace a damaged file. It is downloaded
    /// again when it is needed.
    ///
    /// ```swift
    /// try store.attachments.evict(scan)
    /// ```
    ///
    /// A file that no server has always stays.
    ///
    /// - Parameter attachment: The attachment, as an object has it.
    /// - Returns: Whether the file was on this device, and was removed.
    /// - Throws: ``TandemError``, if the removal can't be stored.
    @discardableResult
    public func evict(_ attachment: Attachment) throws -> Bool {
        try store.write { try $0.evict(attachment.id) }
    }
}

extension FileFolder {
    /// Returns whether a readable file of the row's length exists.
    fileprivate func isWhole(_ name: String, of row: FileRow) throws -> Bool {
        guard let blob = BlobName(name) else { return false }
        do {
            let file = try open(blob, sealed: row.isSealed)
            return row.attachment.size.map { $0 == file.size } ?? true
        } catch let error as TandemError where error.code == .corrupt {
            return false
        }
    }
}

/// The source of a download, as the store knows it.
package struct DownloadSource: Hashable, Sendable {
    /// The file.
    package let id: FileID
    /// The file's URL on the server.
    package let url: String
    /// The server's token for the file.
    package let etag: String?
    /// The required number of bytes, if known.
    package let size: Int64?
    /// The required hash, if known.
    package let sha256: FileDigest?
}

extension FileRow {
    /// Returns the source of the download, or `nil` if the file is on this device.
    func source(in store: Store) throws -> DownloadSource? {
        if blob != nil { return nil }
        guard let url = attachment.serverURL else {
            throw TandemError(
                .attachmentNotHere, message: "The file is not on this device, and no server is known to have it.",
                advice: "Pull the object again.", store: store.path)
        }
        return DownloadSource(
            id: attachment.id, url: url, etag: etag, size: attachment.size, sha256: attachment.sha256)
    }
}

extension WriteTransaction {
    /// Installs a downloaded file.
    ///
    /// - Parameter source: The source of the download, against which the file is checked.
    /// - Returns: `false` if the file is to be discarded: it is no longer used, it is already here, or the store now
    ///   knows another file by that ID.
    fileprivate func install(_ stored: StoredBlob, from source: DownloadSource) throws -> Bool {
        try checkUsable()
        guard let row = try connection.file(source.id), row.blob == nil else { return false }
        if let size = row.attachment.size, size != stored.size { return false }
        if let digest = row.attachment.sha256 {
            // A file with the right bytes is accepted, whatever its URL.
            guard digest.bytes == stored.sha256 else { return false }
        } else {
            guard row.attachment.serverURL == source.url, row.etag == source.etag else { return false }
        }
        try connection.execute(
            """
            UPDATE "__files" SET "blob" = ?, "sealed" = ?, "size" = ?, "sha256" = ?, "usedAt" = ? WHERE "id" = ?
            """,
            binding: [
                .text(stored.blob.rawValue), .integer(stored.isSealed ? 1 : 0), .integer(stored.size),
                .text(FileDigest(stored.sha256)?.hex ?? ""), .real(now.timeIntervalSinceReferenceDate),
                .text(source.id.rawValue),
            ])
        touched.recordFiles()
        return true
    }
}
