import Foundation

/// The state of a file on the device and on the server. See ``AttachmentStore/status(of:)``.
public struct AttachmentStatus: Hashable, Sendable {
    /// The state of a file's upload.
    public enum State: Hashable, Sendable {
        /// The file waits to be uploaded.
        case pending
        /// The upload is under way. `sent` is the number of bytes sent when the last attempt ended. Only the running
        /// sync knows the progress of the current attempt.
        case uploading(sent: Int64)
        /// The server has the file.
        case uploaded
        /// The upload failed, or is impossible. It is retried if the file is on this device.
        case failed(reason: String)
    }

    /// The state of the file's upload.
    public var state: State
    /// Whether the file can be read without a network.
    public var isOnDevice: Bool
    /// The number of upload attempts since the last success.
    public var attempts: Int
    /// The earliest time of the next attempt after a failure.
    public var retryAt: Date?
}

extension AttachmentStore {
    /// Returns the current state of a file.
    ///
    /// The state is not part of the object, because it changes while the object does not. Live queries do not report
    /// the progress of an upload.
    ///
    /// - Throws: ``TandemError/Code/unknownAttachment`` if the store does not know it, or its last object was removed.
    public func status(of attachment: Attachment) throws -> AttachmentStatus {
        if let row = try row(of: attachment.id) { return row.status }
        if draft(of: attachment) != nil { return AttachmentStatus(state: .pending, isOnDevice: true, attempts: 0) }
        throw unknown(attachment)
    }

    /// Returns the stored row of a file, or `nil` if there is none.
    ///
    /// - Parameter isNewest: Whether to read the newest committed state, and not the snapshot of a read block.
    func row(of id: FileID, newest isNewest: Bool = false) throws -> FileRow? {
        let look = { (connection: Connection) in try store.located { try connection.file(id) } }
        return try isNewest ? store.readingNewest(look) : store.reading(look)
    }

    /// Returns the draft of a file that was added and that no object has yet.
    func draft(of attachment: Attachment) -> AttachmentDraft? {
        guard let draft = attachment.draft ?? store.files.draft(attachment.id) else { return nil }
        return draft.belongs(to: store.files) && !draft.isAdopted ? draft : nil
    }

    func unknown(_ attachment: Attachment) -> TandemError {
        TandemError(
            .unknownAttachment,
            message: "The store does not know the attachment \(attachment.id), or its last object was removed.",
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
