import Foundation
import Tandem

/// What one push did, within a sync. The app gets it as a ``SyncResult``.
struct PushResult: Sendable {
    /// The operations, in the order of the queue. Operations that were collapsed away meanwhile are left out, unless
    /// some of their values were given up before.
    let entries: [SyncResult.Entry]
    /// The files, in the order in which they were to be uploaded.
    let uploads: [FileUpload]
    /// Why the push stopped before its end; `nil` if it went through the queue.
    ///
    /// Also set if the server answered for none of five objects or more: it seems to be down.
    let stoppedBy: SyncError?
    /// When the first operation or file is due that was put off and that is not listed here.
    let nextDue: Date?

    init(entries: [SyncResult.Entry], uploads: [FileUpload] = [], stoppedBy: SyncError?, nextDue: Date? = nil) {
        self.entries = entries
        self.uploads = uploads
        self.stoppedBy = stoppedBy
        self.nextDue = nextDue
    }

    /// Whether a change was given up that is recorded in this result only.
    var hasGivenUp: Bool { entries.contains { $0.lost != nil } }
}
