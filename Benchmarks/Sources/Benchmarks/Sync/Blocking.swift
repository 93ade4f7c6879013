import Dispatch
import Synchronization

/// Runs asynchronous work on the runtime's threads and waits for it, so that a round is timed as a whole.
///
/// Call it on the main thread, on which no task runs.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let box = ResultBox<Value>()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        do {
            box.set(.success(try await body()))
        } catch {
            box.set(.failure(error))
        }
        done.signal()
    }
    done.wait()
    return try box.get()
}

private final class ResultBox<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    func set(_ result: Result<Value, any Error>) { self.result.withLock { $0 = result } }

    func get() throws -> Value {
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
