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
    /// store knows now. A value may be older than that.
    ///
    /// - Parameter limit: How many bytes it may have if its size is not known.
    /// - Returns: `nil` if it is here.
    /// - Throws: ``TandemError/Code/unknownAttachment`` if the store does not know it, or its last object is gone;
    ///   ``TandemError/Code/attachmentNotHere`` if no server is known to have it.
    package func download(_ attachment: Attachment, atMost limit: Int64 = .max) throws -> Download? {
        try store.checkOpen()
        guard let row = try row(of: attachment.id) else {
            if hasDraft(of: attachment) { return nil }
            throw unknown(attachment)
        }
        guard let source = try row.source(in: store) else { return nil }
        let taking = try store.fileFolder().taking(atMost: source.size ?? max(0, limit))
        return Download(source: source, taking: taking, store: store)
    }

    /// Takes a file off the device, which a server has. Others are left alone.
    ///
    /// - Returns: Whether it was there.
    @discardableResult
    package func evict(_ attachment: Attachment) throws -> Bool {
        try store.write { try $0.evict(attachment.id) }
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
