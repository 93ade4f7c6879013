import Synchronization

/// A task that waits until a scheduler has no work left. Its cancellation ends the wait, so that the time limit of a
/// test does too.
final class IdleWaiter: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, Never>?
        var isOver = false
    }

    private let state = Mutex(State())

    /// Waits for ``resume()``, or until the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.isOver { state.continuation = continuation }
                    return state.isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            resume()
        }
    }

    /// Ends the wait, also one that has not begun.
    func resume() {
        let continuation = state.withLock { state in
            state.isOver = true
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume()
    }
}
