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
    /// Why something is to be tried again.
    let error: (any Error)?
    /// How long the server wants to be left alone.
    private(set) var retryAfter: Duration?
    /// Until when it does, as it was told of one operation.
    private(set) var retryAt: Date?

    private init(_ kind: Kind, _ error: (any Error)?) {
        self.kind = kind
        self.error = error
    }

    init(_ error: any Error) {
        switch (error as? SyncError)?.code {
        case .unauthenticated?, .otherUser?, .otherServer?: self.init(.needsApp, error)
        default: self.init(.failed, error)
        }
        note(error)
    }

    init(_ result: SyncResult) {
        let failures = result.pulls.compactMap { $0.outcome.error }
        let entries = result.push?.entries ?? []
        let stop = result.push?.stoppedBy
        if let stop {
            self.init(stop)
        } else {
            let passing = failures.filter(\.mayPass)
            let unsent = entries.compactMap { $0.outcome.errorToRetry }
            // A server that answers nothing but nonsense, as one who stands in its place does, is none.
            let isDead =
                !result.pulls.isEmpty && passing.count == result.pulls.count
                && !entries.contains { $0.outcome.isSettled }
            let error = passing.first ?? unsent.first
            self.init(error == nil ? .fine : isDead ? .failed : .leftOver, error)
        }
        for error in failures { note(error) }
        for case .retryLater(let error, let date) in entries.map(\.outcome) {
            note(error)
            if let date { retryAt = max(retryAt ?? date, date) }
        }
    }

    private mutating func note(_ error: any Error) {
        let failure = (error as? SyncError)?.underlying as? RemoteFailure ?? error as? RemoteFailure
        guard case .later(_, let delay?)? = failure else { return }
        retryAfter = max(retryAfter ?? delay, delay)
    }
}

extension Result where Failure == SyncError {
    fileprivate var error: SyncError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension SyncError {
    /// Whether a pull that failed so may succeed later, with the same query and by itself.
    fileprivate var mayPass: Bool {
        switch code {
        case .later, .badAnswer, .noProgress, .unreachable, .busy: true
        default: false
        }
    }
}

extension PushResult.Outcome {
    fileprivate var errorToRetry: SyncError? {
        if case .retryLater(let error, _) = self { error } else { nil }
    }
}
