import Foundation

/// How a file stands: see ``StoreAttachments/status(of:)``.
public struct AttachmentStatus: Hashable, Sendable {
    /// How far a file is on its way to the server.
    public enum State: Hashable, Sendable {
        /// It waits to be uploaded.
        case pending
        /// It is on its way, and so many bytes had been sent when that was noted last: when a try ended. How far the one
        /// is that goes on now, the sync that makes it knows.
        case uploading(sent: Int64)
        /// The server has it.
        case uploaded
        /// The upload failed, or can't be made. It is tried again if the file is on this device.
        case failed(reason: String)
    }

    /// How far it is on its way to the server.
    public var state: State
    /// Whether it can be read without a network.
    public var isOnDevice: Bool
    /// How often an upload was tried since the last success.
    public var attempts: Int
    /// When an upload that failed is tried again at the earliest.
    public var retryAt: Date?
}

extension StoreAttachments {
    /// How a file stands now.
    ///
    /// It is asked, and not part of the object, since it changes while the object does not: a live query is not told of
    /// each percent of an upload.
    ///
    /// - Throws: ``TandemError/Code/unknownAttachment`` if the store does not know it, or its last object is gone.
    public func status(of attachment: Attachment) throws -> AttachmentStatus {
        if let row = try row(of: attachment.id) { return row.status }
        if hasDraft(of: attachment) { return AttachmentStatus(state: .pending, isOnDevice: true, attempts: 0) }
        throw unknown(attachment)
    }

    /// What the store knows of a file; `nil` if nothing.
    func row(of id: FileID) throws -> FileRow? {
        try store.reading { connection in
            do {
                return try connection.file(id)
            } catch {
                throw store.located(error)
            }
        }
    }

    /// Whether a file was added that no object has yet.
    func hasDraft(of attachment: Attachment) -> Bool {
        guard let draft = attachment.draft ?? store.files.draft(attachment.id) else { return false }
        return draft.belongs(to: store.files) && !draft.isAdopted
    }

    func unknown(_ attachment: Attachment) -> TandemError {
        TandemError(
            .unknownAttachment, "The store does not know the attachment \(attachment.id), or its last object is gone.",
            advice: "Read the object again.", store: store.path)
    }
}

extension FileRow {
    var status: AttachmentStatus {
        let state: AttachmentStatus.State =
            switch state {
            case .pending: .pending
            case .uploading: .uploading(sent: offset)
            case .uploaded: .uploaded
            case .failed: .failed(reason: reason ?? "")
            }
        return AttachmentStatus(
            state: state, isOnDevice: blob != nil, attempts: Int(attempts),
            retryAt: retryAt.map { Date(timeIntervalSinceReferenceDate: $0) })
    }
}
