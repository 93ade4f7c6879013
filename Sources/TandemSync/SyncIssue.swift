import Tandem

/// Something about a sync that the user should know. More cases may be added: keep a `default` in a `switch`.
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
    /// Both sides have changed an object. The user is to choose: see ``SyncContext/keepMine(_:)`` and
    /// ``SyncContext/takeServers(_:)``.
    case conflict(TableOperationError)
    /// A change made here gave way to the server's. No other place records it.
    case lostEdit(LostEdit)
    /// A row of the server's could not be stored. Each pull tries it again.
    case refusedRow(RefusedRow)
    /// The server dates a row more than a day past its own clock. It was stored.
    case rowAheadOfClock(ServerID, table: String)
    /// A query failed. The others went on.
    case failedPull(PullQuery, SyncError)
    /// A change was not sent, or not sent with success. A later push sends it.
    case unsent(SyncResult.Entry)
    /// A file was not uploaded. A later push uploads it.
    case unsentFile(FileUpload)

    /// Whether nothing is left to be done: the two sides are in step all the same.
    public var isOver: Bool {
        switch self {
        case .lostEdit, .rowAheadOfClock: true
        case .refused, .conflict, .refusedRow, .failedPull, .unsent, .unsentFile: false
        }
    }
}

extension SyncResult {
    /// Everything that the user should know, the most important first: what waits for the user, whenever it failed, and
    /// what this sync has lost, could not store, fetch, send or upload.
    ///
    /// A change that the user holds back is not listed.
    public var issues: [SyncIssue] {
        let failed = Set(failedOperations.map(\.id))
        var issues = failedOperations.map { $0.isConflict ? SyncIssue.conflict($0) : .refused($0) }
        issues += lostEdits.map(SyncIssue.lostEdit)
        for pull in pulls {
            switch pull.outcome {
            case .success(let result):
                issues += result.refusedRows.map(SyncIssue.refusedRow)
                issues += result.rowsAheadOfClock.map { SyncIssue.rowAheadOfClock($0, table: pull.query.table) }
            case .failure(let error): issues.append(.failedPull(pull.query, error))
            }
        }
        issues += entries.filter { $0.isUnsent && !failed.contains($0.id) }.map(SyncIssue.unsent)
        issues += uploads.filter { !$0.isSettled }.map(SyncIssue.unsentFile)
        return issues
    }

    /// Whether it worked: all that was to be fetched is stored, all that was due is on the server, files included, and
    /// nothing waits for the user. A change that the user holds back does not count.
    public var isComplete: Bool { stoppedBy == nil && issues.allSatisfy(\.isOver) }
}

extension SyncResult.Entry {
    fileprivate var isUnsent: Bool {
        if case .held = outcome { false } else { !outcome.isSettled }
    }
}

extension Result where Success == SyncResult, Failure == any Error {
    /// Everything that the user should know of a sync, whether it ran to its end or was stopped.
    public var issues: [SyncIssue] {
        switch self {
        case .success(let result): result.issues
        case .failure(let error): (error as? SyncError)?.result?.issues ?? []
        }
    }
}

extension SyncIssue: CustomStringConvertible {
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
    /// Why the operation is not on the server, as one sentence.
    fileprivate var reason: String {
        switch self {
        case .refused(let error), .conflict(let error), .retryLater(let error, _): error.message
        case .waiting(let target, let table): "It waits for \(table) \(target)."
        case .stillPending: "It was changed meanwhile."
        case .notReached: "The push stopped before."
        case .held: "It is held."
        case .done, .adopted, .merged, .tookServers: "It is settled."
        }
    }
}

extension FileUpload.Outcome {
    /// Why the file is not on the server, as one sentence.
    fileprivate var reason: String {
        switch self {
        case .failed(let error, _): error.message
        case .waiting(let date): "It is tried again at \(date)."
        case .notReached: "The push stopped before."
        case .uploaded, .dropped: "It is settled."
        }
    }
}
