import Synchronization

/// An owner of a file in the store's folder that no committed row names yet. The file is removed with the last copy of
/// the attachment.
final class AttachmentDraft: Sendable {
    /// The attachment that rows contain.
    let attachment: Attachment
    let blob: BlobName
    let isSealed: Bool
    private let files: AttachmentFiles
    private let adoption = Mutex(false)

    init(_ attachment: Attachment, stored: StoredBlob, files: AttachmentFiles) {
        self.attachment = attachment
        blob = stored.blob
        isSealed = stored.isSealed
        self.files = files
    }

    var id: FileID { attachment.id }

    /// Whether a committed row owns the file.
    var isAdopted: Bool { adoption.withLock { $0 } }

    /// Ends the ownership after the commit of a transaction that contains the attachment.
    func adopt() {
        adoption.withLock { $0 = true }
        files.forget(self)
    }

    /// Returns whether the draft belongs to these files.
    func belongs(to files: AttachmentFiles) -> Bool { self.files === files }

    deinit {
        if !isAdopted { files.drop(id, blob: blob) }
    }
}
