import Foundation
import Tandem

extension PushRun {
    /// Waits as long as the server has asked to be left alone, or until the push is stopped.
    func waitOutPause() async throws {
        while true {
            let now = options.clock.now()
            let left = state.withLock { state in
                guard state.stop == nil, let until = state.pausedUntil else { return 0.0 }
                // A clock that was set back would make the pause longer than any is.
                let end = min(until, now + options.retry.ceiling.seconds)
                state.pausedUntil = end
                return end.timeIntervalSince(now)
            }
            guard left > 0 else { return }
            try await rest(for: .seconds(left))
        }
    }

    /// Sleeps, or until the push is stopped.
    ///
    /// - Throws: `CancellationError` if the current task is cancelled.
    func rest(for duration: Duration) async throws {
        // A task of its own, as it is to end without the one that waits for it being cancelled.
        let clock = options.clock
        let sleep = Task { try await clock.sleep(for: duration) }
        guard let id = state.withLock({ $0.note(sleep) }) else { return sleep.cancel() }
        defer { state.withLock { $0.sleeps[id] = nil } }
        do {
            try await withTaskCancellationHandler {
                try await sleep.value
            } onCancel: {
                sleep.cancel()
            }
        } catch is CancellationError where !Task.isCancelled {
            // The push was stopped.
        }
    }

    /// Has nothing more sent, and wakes those up that wait to send.
    func stop(_ reason: PushState.Stop) {
        let sleeps = state.withLock { state in
            state.stop = state.stop ?? reason
            return Array(state.sleeps.values)
        }
        for sleep in sleeps { sleep.cancel() }
    }
}

extension PushState {
    /// Notes a sleep that ends when the push is stopped; `nil` if it is stopped already.
    fileprivate mutating func note(_ sleep: Task<Void, any Error>) -> Int? {
        guard stop == nil else { return nil }
        lastSleep += 1
        sleeps[lastSleep] = sleep
        return lastSleep
    }
}
