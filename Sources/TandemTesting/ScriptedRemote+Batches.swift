import Foundation
import Tandem
import TandemSync

// A batch is one transaction: a rejected write is an outcome of its own, and a failure of the server undoes all writes.

extension ScriptedRemote {
    /// Returns the maximum number of writes in a batch.
    ///
    /// - Throws: Nothing.
    public func batchLimit() async throws(RemoteFailure) -> Int {
        state.withLock { $0.batchLimitRequests += 1 }
        return mostInBatch
    }

    /// Carries out writes in one exchange, with the planned faults of the writes.
    ///
    /// A fault of a write that prevents the response is a fault of the whole batch. Then none of the writes is carried
    /// out, unless the fault says so. A rejection is the outcome of its write only.
    ///
    /// - Parameter requests: The writes.
    /// - Throws: The planned fault of the batch.
    public func send(
        _ requests: [RemoteRequest]
    ) async throws(RemoteFailure) -> [Result<RemoteResponse, RemoteFailure>] {
        if Task.isCancelled { throw .notSent(CancellationError()) }
        let writes = requests.map { Write(kind: RecordedRequest.Kind($0.kind), item: $0.item) }
        let faults = state.withLock { arrive(writes, state: &$0) }
        defer { leave() }
        await Task.yield()
        for fault in faults {
            switch fault {
            case .loseRequest: throw .lost(NoResponse())
            case .fail(let failure) where failure.isOfBatch: throw failure
            case .hang: try await hang()
            case .deliverLate(let count):
                state.withLock { $0.late += writes.map { (count, $0) } }
                throw .lost(NoResponse())
            case .meanwhile(let event): await event()
            case .deliverTwice: _ = try carryOut(writes, faults: faults)
            case .loseResponse:
                _ = try carryOut(writes, faults: faults)
                throw .lost(NoResponse())
            case .failAfterwards(let failure):
                _ = try carryOut(writes, faults: faults)
                throw failure
            case .fail, .respondWithoutBody, .conflict, nil: break
            }
        }
        return try carryOut(writes, faults: faults)
    }

    /// Records the writes of a batch, and returns their planned faults.
    private func arrive(_ writes: [Write], state: inout State) -> [RemoteFault?] {
        state.lastBatch += 1
        let records = writes.map { write in
            var record = write.record
            record.batch = state.lastBatch
            return record
        }
        state.requests += records
        enter(state: &state)
        // A fault of the whole batch leaves the others to later requests.
        var isWhole = false
        return records.map { record in
            guard !isWhole, let fault = consumeFault(of: record, state: &state) else { return nil }
            isWhole = fault.isOfBatch
            return fault
        }
    }

    private func carryOut(
        _ writes: [Write], faults: [RemoteFault?]
    ) throws(RemoteFailure) -> [Result<RemoteResponse, RemoteFailure>] {
        var results: [Result<RemoteResponse, RemoteFailure>] = []
        for (write, fault) in zip(writes, faults) {
            if case .fail(let failure)? = fault {
                results.append(.failure(failure))
                continue
            }
            if case .conflict(let change)? = fault, let id = write.item.id {
                edit(write.item.table, id: id, change: change)
            }
            do throws(RemoteFailure) {
                var response = try state.withLock { state throws(RemoteFailure) in try carryOut(write, state: &state) }
                if case .respondWithoutBody? = fault { response.item = nil }
                results.append(.success(response))
            } catch {
                results.append(.failure(error))
            }
        }
        return results
    }
}

extension RecordedRequest.Kind {
    fileprivate init(_ kind: RemoteRequest.Kind) {
        switch kind {
        case .insert: self = .insert
        case .update: self = .update
        case .delete: self = .delete
        case .undelete: self = .undelete
        }
    }
}

extension RemoteFault {
    /// Whether a fault prevents the response to the whole batch.
    fileprivate var isOfBatch: Bool {
        switch self {
        case .loseRequest, .loseResponse, .deliverLate, .failAfterwards, .hang: true
        case .fail(let failure): failure.isOfBatch
        case .deliverTwice, .respondWithoutBody, .conflict, .meanwhile: false
        }
    }
}

extension RemoteFailure {
    /// Whether a failure concerns the whole batch.
    fileprivate var isOfBatch: Bool {
        switch self {
        case .notSent, .lost, .unauthenticated, .later, .invalidResponse: true
        case .conflict, .gone, .notFound, .refused, .notEncodable, .outdatedPosition, .file: false
        }
    }
}
