import Foundation
import Tandem

/// The result of a file that a push was to upload.
public struct FileUpload: Sendable {
    /// The outcome of an upload. More cases may be added: keep a `default` in a `switch`.
    public enum Outcome: Sendable {
        /// The server has the file, at this URL.
        case uploaded(url: String)
        /// The upload failed. A later push retries it; a scheduled push waits until the given time. The other files
        /// continued.
        case failed(SyncError, retryAt: Date?)
        /// The upload failed in an earlier push, and is not retried before this time.
        case waiting(until: Date)
        /// The file is no longer needed: it was replaced, or its object was deleted.
        case dropped
        /// The push stopped before the file, or left it to another push that uploads files.
        case notReached
    }

    /// The attachment of the object.
    public let attachment: Attachment
    /// The table of the first object that has the file, in the store.
    public let table: String
    /// The object.
    public let localID: LocalID
    /// The outcome.
    public let outcome: Outcome

    /// Creates the result of a file, for a ``SyncResult`` of the app's own.
    ///
    /// - Parameters:
    ///   - attachment: The file.
    ///   - table: The table of its object in the store.
    ///   - localID: The object's local ID.
    ///   - outcome: The outcome of the upload.
    public init(attachment: Attachment, table: String, localID: LocalID, outcome: Outcome) {
        self.attachment = attachment
        self.table = table
        self.localID = localID
        self.outcome = outcome
    }

    /// Whether nothing is left to send.
    public var isFinished: Bool {
        switch outcome {
        case .uploaded, .dropped: true
        case .failed, .waiting, .notReached: false
        }
    }
}
