import Foundation
import Tandem

/// What a push has done about one file that was to be uploaded.
public struct FileUpload: Sendable {
    /// How it ended. More ways may be added: keep a `default` in a `switch`.
    public enum Outcome: Sendable {
        /// The server has it, at that address.
        case uploaded(url: String)
        /// It did not work this time: a later push tries again, one that nobody has asked for not before that time. The
        /// other files went on.
        case failed(SyncError, retryAt: Date?)
        /// It has failed in an earlier push, and is not to be tried again before that time.
        case waiting(until: Date)
        /// Nobody needs it any more: it was replaced, or its object deleted, meanwhile.
        case dropped
        /// The push stopped before its turn came, or left it to another push that uploads files.
        case notReached
    }

    /// The file, as the object had it.
    public let attachment: Attachment
    /// The object's table in the store: that of the first one that has the file.
    public let table: String
    /// The object.
    public let localID: LocalID
    /// How it ended.
    public let outcome: Outcome

    /// What became of a file, for a ``SyncResult`` of the app's own.
    public init(attachment: Attachment, table: String, localID: LocalID, outcome: Outcome) {
        self.attachment = attachment
        self.table = table
        self.localID = localID
        self.outcome = outcome
    }

    /// Whether nothing of it is left to be sent.
    public var isSettled: Bool {
        switch outcome {
        case .uploaded, .dropped: true
        case .failed, .waiting, .notReached: false
        }
    }
}
