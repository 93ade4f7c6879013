import Foundation
import Tandem

/// The result of a push within a sync. The app gets it as a ``SyncResult``.
struct PushResult: Sendable {
    /// The operations, in the order of the queue. Operations that were collapsed away meanwhile are left out, unless
    /// some of their values were given up before.
    let entries: [SyncResult.Entry]
    /// The files, in the order in which they were to be uploaded.
    let uploads: [FileUpload]
    /// The error that stopped the push; `nil` if it reached the end of the queue.
    ///
    /// Also set if the server responded for none of five objects or more: it seems to be down.
    let stoppedBy: SyncError?
    /// The time when the first deferred operation or file is due that is not listed here.
    let nextDue: Date?

    init(entries: [SyncResult.Entry], uploads: [FileUpload] = [], stoppedBy: SyncError?, nextDue: Date? = nil) {
        self.entries = entries
        self.uploads = uploads
        self.stoppedBy = stoppedBy
        self.nextDue = nextDue
    }

    /// Whether an edit was dropped that only this result records.
    var hasGivenUp: Bool { entries.contains { $0.lost != nil } }
}
