import Foundation
import Tandem

/// What a sync that has ended means to the next one.
struct SyncVerdict: Sendable {
    enum Kind: Hashable, Sendable {
        /// Nothing is to be tried again. What was refused waits for the user.
        case fine
        /// The server works; some of it is to be tried again.
        case leftOver
        /// Trying anything else now would be in vain.
        case failed
        /// It fails until the app does something.
        case needsApp
    }

    let kind: Kind
    /// Why something is to be tried again, or why nothing could be fetched.
    let error: (any Error)?
    /// How long the server wants to be left alone.
    private(set) var retryAfter: Duration?
    /// Until when it does.
    private(set) var retryAt: Date?
    /// When the first of the operations may be sent that were not due.
    private(set) var nextDue: Date?
    /// The operations that were left to the user: each is new when it is released, even while the sync goes on.
    private(set) var forTheUser: Set<Tandem.Operation.ID> = []

    private init(_ kind: Kind, _ error: (any Error)?) {
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
        self.init((error as? SyncError)?.needsApp ?? false ? .needsApp : .failed, error)
        note(error)
    }

    /// - Parameter error: Why the sync stopped before its end.
    init(_ result: SyncResult, stoppedBy error: SyncError? = nil) {
        let (failures, entries) = (result.pulls.compactMap(\.failure), result.entries)
        let stops = [error, result.pushStop].compactMap { $0 }
        let hasSettled = entries.contains { $0.outcome.isSettled }
        // Objects may have stopped the push: a server that has taken others, or lets a table be pulled, is not down.
        let isUp = hasSettled || failures.count < result.pulls.count
        if let stop = (stops + failures).first(where: \.needsApp)
            ?? stops.first(where: { !isUp || !$0.mayConcernObjects })
        {
            self.init(stop: stop)
        } else {
            let passing = failures.filter(\.mayPass)
            let unsent = entries.compactMap { $0.outcome.errorToRetry }
            let areAllPassing = !result.pulls.isEmpty && passing.count == result.pulls.count
            // Nothing but nonsense, as a sign-in page answers in the server's place, is not a server's answer.
            let isDead = areAllPassing && !hasSettled
            if let error = passing.first ?? unsent.first ?? stops.first {
                self.init(isDead ? .failed : .leftOver, error)
            } else {
                self.init(.fine, failures.count == result.pulls.count ? failures.first : nil)
            }
        }
        for error in failures + stops { note(error) }
        for entry in entries {
            switch entry.outcome {
            case .retryLater(let error, let date):
                note(error)
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

    private mutating func note(_ error: any Error) {
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
    /// Whether it comes again until the app does something.
    fileprivate var needsApp: Bool {
        switch code {
        case .unauthenticated, .otherUser, .otherServer: true
        default: false
        }
    }

    /// Whether a pull that failed so may succeed later, with the same query and by itself.
    fileprivate var mayPass: Bool {
        switch code {
        case .later, .badAnswer, .noProgress, .unreachable, .busy: true
        default: false
        }
    }
}

extension SyncResult.Outcome {
    fileprivate var errorToRetry: SyncError? {
        if case .retryLater(let error, _) = self { error } else { nil }
    }
}
