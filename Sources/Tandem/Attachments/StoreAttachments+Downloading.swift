import Foundation

extension StoreAttachments {
    /// A file that is being downloaded: it takes its place when it is complete and is what the attachment says.
    package struct Download: Sendable {
        let attachment: Attachment
        let taking: FileTaking
        let store: Store

        /// Adds bytes at the end.
        ///
        /// - Throws: ``TandemError/Code/fileMismatch`` once they are more than the attachment has.
        package func write(_ bytes: some ContiguousBytes) throws { try taking.write(bytes) }

        /// Compares size and hash, and puts the file in its place.
        ///
        /// - Throws: ``TandemError/Code/fileMismatch`` if it is another file. Nothing of it is kept then.
        package func finish() throws {
            let taken = try taking.finish(expecting: attachment.size, sha256: attachment.sha256?.bytes)
            var isInstalled = false
            defer { if !isInstalled { store.files.remove([taken.blob]) } }
            isInstalled = try store.write { try $0.install(taken, for: attachment.id) }
            store.files.noteFetched(attachment.id)
            try? store.attachments.trimCache()
        }
    }

    /// Begins a download of a file that is not on this device.
    package func download(_ attachment: Attachment) throws -> Download {
        try store.checkOpen()
        return Download(
            attachment: attachment, taking: try store.fileFolder().taking(atMost: attachment.size), store: store)
    }

    /// Takes a file off the device, which a server has. Others are left alone.
    ///
    /// - Returns: Whether it was there.
    @discardableResult
    package func evict(_ attachment: Attachment) throws -> Bool {
        try store.write { try $0.evict(attachment.id) }
    }
}
