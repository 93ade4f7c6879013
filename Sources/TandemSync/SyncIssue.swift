import Tandem

/// A fact about a sync that the user should know. More cases may be added: keep a `default` in a `switch`.
///
/// ``description`` is a sentence for a list or a log. For example:
///
/// ```swift
/// for issue in result.issues {
///     switch issue {
///     case .refused(let failed), .conflict(let failed): inbox.add(failed)
///     case .lostEdit(let edit): journal.note(edit.model, edit.localID, edit.values)
///     default: log(issue)
///     }
/// }
/// ```
public enum SyncIssue: Sendable {
    /// The server refused a change. It waits for the user, or for a new change: see ``SyncContext/retry(_:)`` and
    /// ``SyncContext/discard(_:)``.
    case refused(TableOperationError)
    /// Both sides have changed an object. The user must decide: see ``SyncContext/keepMine(_:)`` and
    /// ``SyncContext/takeServers(_:)``.
    case conflict(TableOperationError)
    /// A local change was dropped for the server's. It is recorded nowhere else.
    case lostEdit(LostEdit)
    /// A row from the server could not be stored. Each pull retries it.
    case refusedRow(RefusedRow)
    /// The server dates a row more than a day past its own clock. The row was stored.
    case rowAheadOfClock(ServerID, table: String)
    /// A query failed. The other queries continued.
    case failedPull(PullQuery, error: SyncError)
    /// A change was not sent, or was sent without success. A later push sends it.
    case unsent(SyncResult.Entry)
    /// A file was not uploaded. A later push uploads it.
    case unsentFile(FileUpload)

    /// Whether the issue needs no further action: both sides are in sync nevertheless.
    public var isOver: Bool {
        switch self {
        case .lostEdit, .rowAheadOfClock: true
        case .refused, .conflict, .refusedRow, .failedPull, .unsent, .unsentFile: false
        }
    }
}

extension SyncResult {
    /// All issues that the user should know, the most important first.
    ///
    /// They include the operations that wait for the user, whenever they failed. They also include the edits, rows,
    /// queries, changes and files that this sync lost or could not complete. Held changes are not listed.
    public var issues: [SyncIssue] {
        let failed = Set(failedOperations.map(\.id))
        var issues = failedOperations.map { $0.isConflict ? SyncIssue.conflict($0) : .refused($0) }
        issues += lostEdits.map(SyncIssue.lostEdit)
        for pull in pulls {
            switch pull.outcome {
            case .success(let result):
                issues += result.refusedRows.map(SyncIssue.refusedRow)
                issues += result.rowsAheadOfClock.map { SyncIssue.rowAheadOfClock($0, table: pull.query.table) }
            case .failure(let error): issues.append(.failedPull(pull.query, error: error))
            }
        }
        issues += entries.filter { $0.isUnsent && !failed.contains($0.id) }.map(SyncIssue.unsent)
        issues += uploads.filter { !$0.isFinished }.map(SyncIssue.unsentFile)
        return issues
    }

    /// Whether the sync is complete. All fetched objects are stored, all due changes and files are on the server, and
    /// nothing waits for the user. Held changes do not count.
    public var isComplete: Bool { stoppedBy == nil && issues.allSatisfy(\.isOver) }
}

extension SyncResult.Entry {
    fileprivate var isUnsent: Bool {
        if case .held = outcome { false } else { !outcome.isFinished }
    }
}

extension Result where Success == SyncResult, Failure == any Error {
    /// All issues of a sync that the user should know, whether the sync completed or was stopped.
    public var issues: [SyncIssue] {
        switch self {
        case .success(let result): result.issues
        case .failure(let error): (error as? SyncError)?.result?.issues ?? []
        }
    }
}

extension SyncIssue: CustomStringConvertible {
    /// A text for logs and messages.
    public var description: String {
        switch self {
        case .refused(let failed), .conflict(let failed): "The \(failed)"
        case .lostEdit(let edit):
            "The edit of \(edit.model) \(edit.localID) was dropped: "
                + (edit.isDeletedOnServer ? "the server has deleted the object." : "the server's values were taken.")
                + " Lost: \(edit.values.keys.sorted().joined(separator: ", "))."
        case .refusedRow(let row): "The server's \(row.model) \(row.serverID) was not stored: \(row.message)"
        case .rowAheadOfClock(let id, let table): "The server dates \(table) \(id) past its own clock."
        case .failedPull(let query, let error): "\(query.table) was not fetched: \(error.message)"
        case .unsent(let entry):
            "The \(entry.kind) of \(entry.table) \(entry.localID) was not sent: \(entry.outcome.reason)"
        case .unsentFile(let upload): "The file \(upload.attachment.name) was not uploaded: \(upload.outcome.reason)"
        }
    }
}

extension SyncResult.Outcome {
    /// The reason why the operation is not on the server, as one sentence.
    fileprivate var reason: String {
        switch self {
        case .refused(let error), .conflict(let error), .retryLater(let error, _): error.message
        case .waiting(let target, let table): "It waits for \(table) \(target)."
        case .stillPending: "It was changed meanwhile."
        case .notReached: "The push stopped earlier."
        case .held: "It is held."
        case .done, .adopted, .merged, .tookServers: "Nothing is left to do."
        }
    }
}

extension FileUpload.Outcome {
    /// The reason why the file is not on the server, as one sentence.
    fileprivate var reason: String {
        switch self {
        case .failed(let error, _): error.message
        case .waiting(let date): "The next attempt is at \(date)."
        case .notReached: "The push stopped earlier."
        case .uploaded, .dropped: "Nothing is left to do."
        }
    }
}
