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
        let (clock, isStopped) = (options.clock, isStopped)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await clock.sleep(for: duration) }
            group.addTask { for await isStopped in isStopped.values() where isStopped { break } }
            defer { group.cancelAll() }
            try await group.next()
        }
        try Task.checkCancellation()
    }

    /// Prevents further requests, and wakes the tasks that wait to send.
    func stop(_ reason: PushState.Stop) {
        state.withLock { $0.stop = $0.stop ?? reason }
        isStopped.set(true)
    }
}
