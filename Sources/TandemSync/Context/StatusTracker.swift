import Foundation
import Synchronization
import Tandem

/// The status of a context, with its observers.
final class StatusTracker: Sendable {
    private struct State {
        var status = SyncStatus()
        /// The activities with objects and with files. Both may run concurrently.
        var objects: SyncStatus.Activity?
        var files: SyncStatus.Activity?
        /// The number of bytes sent of each file, during uploads.
        var uploads: [FileID: Int64] = [:]
        /// The number of syncs that are running or waiting.
        var running = 0
        var lastToken = 0
        var observers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// The activity of the context, without the remaining work in the store.
    var status: SyncStatus { state.withLock { $0.status } }

    /// Whether the status has observers.
    var isWatched: Bool { state.withLock { !$0.observers.isEmpty } }

    func begin() {
        change { state in
            state.running += 1
            state.status.isSyncing = true
        }
    }

    /// - Parameters:
    ///   - error: The error of the sync, if it failed.
    ///   - hasRun: Whether the sync had begun. A sync that only waited does not affect the activity, and its
    ///     cancellation is not a failure.
    ///   - isExchange: Whether the sync was to exchange data with the server. Otherwise it does not affect the last
    ///     error.
    func end(with error: (any Error)?, hasRun: Bool, isExchange: Bool = true) {
        change { state in
            state.running -= 1
            state.status.isSyncing = state.running > 0
            if isExchange, hasRun || !(error is CancellationError) {
                state.status.lastError = error.map {
                    $0 is CancellationError ? "The sync was cancelled." : SyncError.words(of: $0)
                }
            }
        }
    }

    /// Sets the activity with objects.
    func setActivity(_ activity: SyncStatus.Activity) {
        change { $0.objects = activity }
    }

    /// Clears the activity with objects.
    func clearActivity() {
        change { $0.objects = nil }
    }

    /// Sets the progress of uploads.
    ///
    /// - Parameter activity: `nil` if the uploads have ended.
    func setUploads(_ activity: SyncStatus.Activity?, sent: [FileID: Int64]) {
        change { ($0.files, $0.uploads) = (activity, sent) }
    }

    /// The number of bytes sent of each file.
    var uploads: [FileID: Int64] { state.withLock { $0.uploads } }

    /// Records a complete pull of a table.
    func recordSuccess(of table: String, at date: Date) {
        change { $0.status.lastSuccess[table] = date }
    }

    /// Adds an observer of each change, called on the thread of the change.
    func observe(_ observer: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastToken += 1
            state.observers[state.lastToken] = observer
            return state.lastToken
        }
    }

    func remove(_ token: Int) { state.withLock { $0.observers[token] = nil } }

    private func change(_ body: (inout State) -> Void) {
        let observers = state.withLock { state in
            let before = (state.status, state.uploads)
            body(&state)
            state.status.activity = state.objects ?? state.files
            return before == (state.status, state.uploads) ? [] : Array(state.observers.values)
        }
        for observer in observers { observer() }
    }
}
