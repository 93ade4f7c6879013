import Foundation
import Tandem

// The operations of a batch.

extension PushRun {
    /// Returns the next operations, which are sent together; empty if none can be sent now.
    ///
    /// It never waits for an operation. The operations that are ready now are the batch.
    ///
    /// - Parameter isIdle: Whether no request is in flight that may still get a response.
    func dequeueBatch(isIdle: Bool) async -> [PendingOperation.ID] {
        // After a failed batch, single requests find out whether the server is down or an operation is at fault. They
        // are sent one at a time. A server that is down must not receive each part of each batch.
        guard isIdle || !state.withLock({ $0.isBatchFailing }), let first = dequeue(isIdle: isIdle) else { return [] }
        guard state.withLock({ $0.nextForBatch != nil }) else { return [first] }
        let limit = await batchLimit(for: first)
        return state.withLock { $0.dequeueBatch(from: first, limit: limit) }
    }

    /// Returns the maximum number of operations in a batch. The first call asks the server.
    private func batchLimit(for first: PendingOperation.ID) async -> Int {
        if let limit = state.withLock({ $0.batchLimit }) { return limit }
        let limit = await requestBatchLimit(for: first)
        state.withLock { ($0.batchLimit, $0.hasBatches) = (limit, limit > 1) }
        return limit
    }

    /// Asks the server for the maximum size of a batch. If the server can't tell, each operation goes alone, and its
    /// own request shows the reason. Without a connection or credentials, the push stops.
    private func requestBatchLimit(for first: PendingOperation.ID) async -> Int {
        guard let coder = try? coder(of: first) else { return 1 }
        for tries in 1...max(options.retry.tries, 1) {
            do {
                try await waitOutPause()
                try Task.checkCancellation()
            } catch {
                stop(error is CancellationError && Task.isCancelled ? .cancelled : .thrown(error))
            }
            guard state.withLock({ $0.stop == nil }) else { return 1 }
            let failure: RemoteFailure
            do throws(RemoteFailure) {
                return max(1, try await context.remote.batchLimit())
            } catch {
                failure = error
            }
            var error = SyncError(failure, table: coder.table, url: coder.url)
            switch failure {
            case _ where failure.isCancellation && Task.isCancelled: stop(.cancelled)
            case .notSent, .lost, .unauthenticated: stop(.failure(error))
            case .later(_, let delay?) where delay > .zero: _ = recordPause(delay, in: &error)
            case .later: try? await rest(for: options.retry.delay(after: tries, random: options.random()))
            default: return 1
            }
        }
        return 1
    }
}

extension PushState {
    /// Returns a batch of a started operation and the next ones.
    mutating func dequeueBatch(from first: PendingOperation.ID, limit: Int) -> [PendingOperation.ID] {
        var batch = [first]
        var most = min(limit, queue[first]?.batchLimit ?? limit)
        while let id = nextForBatch {
            let mostWithNext = min(most, queue[id]?.batchLimit ?? most)
            guard batch.count < mostWithNext else { break }
            most = mostWithNext
            queue.dequeue()
            batch.append(id)
        }
        return batch
    }

    /// The next operation to send; `nil` if there is none, if the push has stopped, or if ``isSkipped(_:)`` is true.
    fileprivate var nextForBatch: PendingOperation.ID? {
        guard stop == nil, let id = queue.next, let node = queue[id], !isSkipped(node) else { return nil }
        return id
    }
}
