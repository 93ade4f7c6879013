import Foundation
import Synchronization
import Tandem

/// What a context is doing, and those who want to know.
final class StatusBoard: Sendable {
    private struct State {
        var status = SyncStatus()
        /// The activities with objects and with files. Both may go on at a time.
        var objects: SyncStatus.Activity?
        var files: SyncStatus.Activity?
        /// How many bytes of each file have been sent, while files are uploaded.
        var uploads: [FileID: Int64] = [:]
        /// How many syncs are running, or wait for their turn to end.
        var running = 0
        var lastToken = 0
        var observers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// What the context does; what the store has left to do is not in it.
    var status: SyncStatus { state.withLock { $0.status } }

    /// Whether anybody wants to know.
    var isWatched: Bool { state.withLock { !$0.observers.isEmpty } }

    func begin() {
        change { state in
            state.running += 1
            state.status.isSyncing = true
        }
    }

    /// - Parameters:
    ///   - error: Why it failed, if it did.
    ///   - hasRun: Whether its turn had come. One that only waited says nothing of what the running one does, and to stop
    ///     waiting is no failure.
    ///   - isExchange: Whether it was to exchange anything with the server. What was not says nothing of how syncing goes.
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

    /// Notes what is done with objects.
    func note(_ activity: SyncStatus.Activity) {
        change { $0.objects = activity }
    }

    /// Notes that nothing is done with objects any more.
    func noteRest() {
        change { $0.objects = nil }
    }

    /// Notes how far uploads are.
    ///
    /// - Parameter activity: `nil` if they are over.
    func noteUploads(_ activity: SyncStatus.Activity?, sent: [FileID: Int64]) {
        change { ($0.files, $0.uploads) = (activity, sent) }
    }

    /// How many bytes of each file have been sent.
    var uploads: [FileID: Int64] { state.withLock { $0.uploads } }

    /// A table was fetched to its end.
    func noteSuccess(of table: String, at date: Date) {
        change { $0.status.lastSuccess[table] = date }
    }

    /// Adds somebody to be told of each change, on the thread that makes it.
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
