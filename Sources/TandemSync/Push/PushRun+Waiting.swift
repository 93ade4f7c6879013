import Foundation
import Tandem

extension PushRun {
    /// Waits for the end of the server's `Retry-After`, or until the push is stopped.
    func waitOutPause() async throws {
        while true {
            guard state.withLock({ $0.stop == nil }) else { return }
            let left = context.pause.secondsLeft(at: options.clock.now(), atMost: options.retry.ceiling.seconds)
            guard left > 0 else { return }
            try await rest(for: .seconds(left))
        }
    }

    /// Sleeps for a duration, or until the push is stopped.
    ///
    /// - Throws: `CancellationError` if the current task is cancelled.
    func rest(for duration: Duration) async throws {
        guard state.withLock({ $0.stop == nil }) else { return }
        let clock = options.clock
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await clock.sleep(for: duration) }
            group.addTask { await self.untilStopped() }
            defer { group.cancelAll() }
            try await group.next()
        }
        try Task.checkCancellation()
    }

    /// Waits for the push to be stopped, or the current task to be cancelled.
    private func untilStopped() async {
        let id = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isOver = state.withLock { state in
                    if state.stop != nil || Task.isCancelled { return true }
                    state.sleepers[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.resume()
        }
    }

    /// Prevents further requests, and wakes the tasks that wait to send.
    func stop(_ reason: PushState.Stop) {
        let sleepers = state.withLock { state in
            state.stop = state.stop ?? reason
            defer { state.sleepers = [:] }
            return state.sleepers.values
        }
        for sleeper in sleepers { sleeper.resume() }
    }
}
