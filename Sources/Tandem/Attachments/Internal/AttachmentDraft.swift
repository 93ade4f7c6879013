import Synchronization

/// Keeps a file that was taken into the store's folder and that no committed row names yet: when the last copy of the
/// attachment goes, the file goes too.
final class AttachmentDraft: Sendable {
    /// What rows are to say of it.
    let attachment: Attachment
    let blob: BlobName
    let isSealed: Bool
    private let files: StoreFiles
    private let adoption = Mutex(false)

    init(_ attachment: Attachment, _ taken: TakenFile, files: StoreFiles) {
        self.attachment = attachment
        blob = taken.blob
        isSealed = taken.isSealed
        self.files = files
    }

    var id: FileID { attachment.id }

    /// Whether rows look after the file by now.
    var isAdopted: Bool { adoption.withLock { $0 } }

    /// A transaction that holds the attachment has been committed.
    func adopt() {
        adoption.withLock { $0 = true }
        files.forget(self)
    }

    /// Whether the draft is one of these files.
    func belongs(to files: StoreFiles) -> Bool { self.files === files }

    deinit {
        if !isAdopted { files.drop(id, blob) }
    }
}
