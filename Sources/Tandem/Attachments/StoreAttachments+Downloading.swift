import Foundation

extension StoreAttachments {
    /// A file that is being downloaded: it takes its place when it is complete and is what the store says of it.
    package struct Download: Sendable {
        /// What is fetched.
        package let source: DownloadSource
        let taking: FileTaking
        let store: Store

        /// Adds bytes at the end.
        ///
        /// - Throws: ``TandemError/Code/fileMismatch`` once they are more than the file has.
        package func write(_ bytes: some ContiguousBytes) throws { try taking.write(bytes) }

        /// Compares size and hash, and puts the file in its place.
        ///
        /// - Returns: Whether it is there. If not, the store knows another file by that ID now, or none, or has it from
        ///   elsewhere: nothing of what came is kept.
        /// - Throws: ``TandemError/Code/fileMismatch`` if it is another file. Nothing of it is kept then.
        package func finish() throws -> Bool {
            let taken = try taking.finish(expecting: source.size, sha256: source.sha256?.bytes)
            var isInstalled = false
            defer { if !isInstalled { store.files.remove([taken.blob]) } }
            isInstalled = try store.write { try $0.install(taken, from: source) }
            if isInstalled { store.files.noteFetched(source.id) }
            try? store.attachments.trimCache()
            return isInstalled
        }

        /// Whether the store has learned something else of the file since, so that an error says nothing of it.
        package func isOutdated() throws -> Bool {
            try store.attachments.row(of: source.id)?.source(in: store) != source
        }
    }

    /// Begins a download of a file that is not on this device: what of it is to be fetched, and held against, is what the
    /// store knows now. A value may be older than that. What is missing in the folder, or was cut there, is fetched too.
    ///
    /// - Parameter limit: How many bytes it may have if its size is not known.
    /// - Returns: `nil` if it is here.
    /// - Throws: ``TandemError/Code/unknownAttachment`` if the store does not know it, or its last object is gone;
    ///   ``TandemError/Code/attachmentNotHere`` if no server is known to have it.
    package func download(_ attachment: Attachment, atMost limit: Int64 = .max) throws -> Download? {
        try store.checkOpen()
        guard var row = try row(of: attachment.id) else {
            if hasDraft(of: attachment) { return nil }
            throw unknown(attachment)
        }
        // What waits to be uploaded is nowhere else, whole or not.
        if row.state == .uploaded, let text = row.blob, try !store.fileFolder().isWhole(text, of: row) {
            try store.write { _ = try $0.evict(row.attachment.id, only: text) }
            guard let newest = try self.row(of: row.attachment.id) else { throw unknown(attachment) }
            row = newest
        }
        guard let source = try row.source(in: store) else { return nil }
        let taking = try store.fileFolder().taking(atMost: source.size ?? max(0, limit))
        return Download(source: source, taking: taking, store: store)
    }

    /// Takes a file off this device that a server has: to make room, or to fetch one again that was damaged here. It is
    /// downloaded when it is wanted.
    ///
    /// ```swift
    /// try store.attachments.evict(scan)
    /// ```
    ///
    /// A file that no server has stays, whatever is asked.
    ///
    /// - Returns: Whether it was there, and is gone now.
    /// - Throws: ``TandemError``, if that can't be written down.
    @discardableResult
    public func evict(_ attachment: Attachment) throws -> Bool {
        try store.write { try $0.evict(attachment.id) }
    }
}

extension FileFolder {
    /// Whether a file is there that can be opened, of the length that its row says.
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

/// What of a file is fetched, as the store knows it.
package struct DownloadSource: Hashable, Sendable {
    /// The file.
    package let id: FileID
    /// Where the server has it.
    package let url: String
    /// Which file that is, in the server's words.
    package let etag: String?
    /// How many bytes it must have, if that is known.
    package let size: Int64?
    /// The hash that they must have, if that is known.
    package let sha256: FileDigest?
}

extension FileRow {
    /// What is to be fetched; `nil` if the file is here.
    func source(in store: Store) throws -> DownloadSource? {
        if blob != nil { return nil }
        guard let url = attachment.serverURL else {
            throw TandemError(
                .attachmentNotHere, "The file is not on this device, and no server is known to have it.",
                advice: "Pull the object again.", store: store.path)
        }
        return DownloadSource(
            id: attachment.id, url: url, etag: etag, size: attachment.size, sha256: attachment.sha256)
    }
}
