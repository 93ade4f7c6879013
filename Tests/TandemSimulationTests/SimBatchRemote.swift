import LocalStoreSupport
import Tandem
import TandemSync

/// A remote with batches, over a server without batches.
///
/// A batch fails as a whole before its writes, after its writes, or not at all. In the last case each write has its own
/// outcome, with the faults of the network and the server.
struct SimBatchRemote: ForwardingRemote {
    let base: any Remote
    let limit: Int
    let world: SimWorld

    struct NoResponse: Error {}

    var insertRestoresDeleted: Bool { base.insertRestoresDeleted }

    func batchLimit() async throws(RemoteFailure) -> Int { limit }

    func send(
        _ requests: [RemoteRequest]
    ) async throws(RemoteFailure) -> [Result<RemoteResponse, RemoteFailure>] {
        world.note("    batch of \(requests.count)")
        if let failure = failure(thousandths: 40) { throw failure }
        var results: [Result<RemoteResponse, RemoteFailure>] = []
        for request in requests { results.append(await sendAlone(request)) }
        // Only writes that were carried out completely may lose their common response.
        if results.allSatisfy(\.isDefinite), let failure = failure(thousandths: 80) { throw failure }
        return results
    }

    /// Returns a failure of the whole batch with a probability, unless the history is calm.
    private func failure(thousandths: UInt64) -> RemoteFailure? {
        guard !world.isCalm, world.chance(thousandths) else { return nil }
        let failures: [RemoteFailure] = [
            .lost(NoResponse()), .later(status: 500, retryAfter: nil), .later(status: 503, retryAfter: .seconds(2)),
        ]
        let failure = world.pick(failures)
        world.note("    batch: \(failure)")
        return failure
    }
}

extension Result<RemoteResponse, RemoteFailure> {
    /// Whether the outcome says if the write was carried out.
    fileprivate var isDefinite: Bool {
        switch self {
        case .success: true
        case .failure(.conflict), .failure(.gone), .failure(.notFound), .failure(.refused): true
        case .failure: false
        }
    }
}
