import Foundation
import Tandem

/// The outcome of a sync, by which the next one is scheduled.
struct SyncOutcome: Sendable {
    enum Kind: Hashable, Sendable {
        /// There is nothing to retry. Refused operations wait for the user.
        case fine
        /// The server works, but some operations must be retried.
        case leftOver
        /// Further requests would fail now.
        case failed
        /// The sync fails until the app resolves the problem.
        case needsApp
    }

    let kind: Kind
    /// The reason for a retry, or for a failed fetch.
    let error: (any Error)?
    /// The server's `Retry-After` as a duration.
    private(set) var retryAfter: Duration?
    /// The server's `Retry-After` as a date.
    private(set) var retryAt: Date?
    /// The time of the first operation that was not due.
    private(set) var nextDue: Date?
    /// The operations that wait for the user. Each counts as new when it is released, even during the sync.
    private(set) var forTheUser: Set<PendingOperation.ID> = []
    /// The tables whose pulls have succeeded, and those whose pulls have failed.
    private var pulled: Set<String> = []
    private var unpulled: Set<String> = []
    /// Whether the sync was stopped. It may not have reached all tables.
    private var isStopped = false

    /// Returns whether the pulls of a table have succeeded; `false` also if the sync was stopped before, `nil` if it
    /// did not pull the table.
    func hasPulled(_ table: String) -> Bool? {
        if unpulled.contains(table) { return false }
        return pulled.contains(table) ? true : isStopped ? false : nil
    }

    private init(_ kind: Kind, error: (any Error)?) {
        self.kind = kind
        self.error = error
    }

    init(_ error: any Error) {
        if let error = error as? SyncError, let result = error.result {
            self.init(result, stoppedBy: error)
        } else {
            self.init(stop: error)
        }
    }

    private init(stop error: any Error) {
        self.init((error as? SyncError)?.needsApp ?? false ? .needsApp : .failed, error: error)
        isStopped = true
        record(error)
    }

    /// - Parameter error: The error that stopped the sync.
    init(_ result: SyncResult, stoppedBy error: SyncError? = nil) {
        let (failures, entries) = (result.pulls.compactMap(\.failure), result.entries)
        let stops = [error, result.pushStop].compactMap { $0 }
        let hasFinished = entries.contains { $0.outcome.isFinished }
        // Objects may have stopped the push. The server is up if it accepted other objects, or a pull of a table.
        let isUp = hasFinished || failures.count < result.pulls.count
        if let stop = (stops + failures).first(where: \.needsApp)
            ?? stops.first(where: { !isUp || !$0.mayConcernObjects })
        {
            self.init(stop: stop)
        } else {
            let passing = failures.filter(\.mayPass)
            let unsent = entries.compactMap { $0.outcome.errorToRetry }
            let areAllPassing = !result.pulls.isEmpty && passing.count == result.pulls.count
            // If all responses are invalid, for example from a sign-in page, the server counts as down.
            let isDead = areAllPassing && !hasFinished
            if let error = passing.first ?? unsent.first ?? stops.first {
                self.init(isDead ? .failed : .leftOver, error: error)
            } else {
                self.init(.fine, error: failures.count == result.pulls.count ? failures.first : nil)
            }
        }
        isStopped = error != nil
        for pull in result.pulls {
            if pull.failure == nil { pulled.insert(pull.query.table) } else { unpulled.insert(pull.query.table) }
        }
        for error in failures + stops { record(error) }
        for entry in entries {
            switch entry.outcome {
            case .retryLater(let error, let date):
                record(error)
                if let date { retryAt = max(retryAt ?? date, date) }
            case .refused, .conflict, .held: forTheUser.insert(entry.id)
            default: break
            }
        }
        let files = result.uploads.compactMap { upload in
            switch upload.outcome {
            case .failed(_, let date?), .waiting(let date): date
            default: nil
            }
        }
        nextDue = ([result.nextDue].compactMap { $0 } + files).min()
    }

    private mutating func record(_ error: any Error) {
        if let date = (error as? SyncError)?.retryAt {
            retryAt = max(retryAt ?? date, date)
            return
        }
        let failure = (error as? SyncError)?.underlying as? RemoteFailure ?? error as? RemoteFailure
        guard case .later(_, let delay?)? = failure else { return }
        retryAfter = max(retryAfter ?? delay, delay)
    }
}

extension SyncError {
    /// Whether the error recurs until the app resolves the problem.
    fileprivate var needsApp: Bool {
        switch code {
        case .unauthenticated, .otherUser, .otherServer, .reservedName: true
        default: false
        }
    }

    /// Whether the same pull may succeed later without a change.
    fileprivate var mayPass: Bool {
        switch code {
        case .later, .invalidResponse, .noProgress, .unreachable, .busy: true
        default: false
        }
    }
}

extension SyncResult.Outcome {
    fileprivate var errorToRetry: SyncError? {
        if case .retryLater(let error, _) = self { error } else { nil }
    }
}
