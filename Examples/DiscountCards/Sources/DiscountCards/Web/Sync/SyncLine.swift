import Foundation
import Tandem
import TandemSync

/// The state of the sync, as a page shows it.
struct SyncLine: Encodable, Equatable, Sendable {
    /// The person signed in.
    var person = ""
    /// The person and the server; `nil` if no person is logged in.
    var account: String?
    var isSyncing = false
    var isAutomatic = false
    /// The activity or the last result in a sentence.
    var sentence = ""
    /// The reason why the last sync failed, in a sentence.
    var problem: String?
    /// The number of changes that wait to be sent.
    var pending = 0
    /// The number of photographs that wait to be uploaded.
    var files = 0
    /// The number of changes that wait for a decision.
    var undecided = 0
    /// The upload of photographs in percent, while there is one.
    var uploaded: Int?
}

extension SyncLine {
    /// Creates a line from the status of a context.
    init(_ status: SyncStatus, session: Session, isAutomatic: Bool, problem: String?) {
        account = "\(session.name), at \(session.server)"
        isSyncing = status.isSyncing
        self.isAutomatic = isAutomatic
        self.problem = status.isSyncing ? nil : problem
        pending = status.pending + status.held
        files = status.pendingFiles
        undecided = status.failed
        if case .uploading(_, _, let sent, let total) = status.activity, total > 0 {
            uploaded = Int(min(100, 100 * sent / total))
        }
        sentence =
            if status.isSyncing {
                SyncProgress.line(status.activity) ?? "Syncing"
            } else if status.failed > 0 {
                status.failed.of("change needs", plural: "changes need") + " a decision"
            } else if pending + files > 0 {
                pending > 0 ? pending.of("change") + " not sent" : files.of("photo") + " not sent"
            } else {
                "All changes are on the server"
            }
    }

    /// Creates the line of a store without a server.
    init(pending: Int) {
        self.pending = pending
        sentence = pending.of("change") + " on this device only"
    }
}
