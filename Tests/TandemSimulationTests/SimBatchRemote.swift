import Tandem
import TandemSync

/// A remote with batches, over a server without batches.
///
/// A batch fails as a whole before its writes, after its writes, or not at all. In the last case each write has its own
/// outcome, with the faults of the network and the server.
struct SimBatchRemote: Remote {
    let remote: any Remote
    let limit: Int
    let world: SimWorld

    struct NoAnswer: Error {}

    var format: WireFormat { remote.format }
    var insertRestoresDeleted: Bool { remote.insertRestoresDeleted }

    func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage { try await remote.page(request) }
    func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? {
        try await remote.find(table, key: key)
    }
    func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { try await remote.insert(item) }
    func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { try await remote.update(item) }
    func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { try await remote.delete(item) }
    func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await remote.undelete(item)
    }

    func batchLimit() async throws(RemoteFailure) -> Int { limit }

    func send(
        _ requests: [RemoteRequest]
    ) async throws(RemoteFailure) -> [Result<RemoteResponse, RemoteFailure>] {
        world.note("    batch of \(requests.count)")
        if let failure = failure(thousandths: 40) { throw failure }
        var results: [Result<RemoteResponse, RemoteFailure>] = []
        for request in requests {
            switch request.kind {
            case .insert: results.append(await outcome { () throws(RemoteFailure) in try await insert(request.item) })
            case .update: results.append(await outcome { () throws(RemoteFailure) in try await update(request.item) })
            case .delete: results.append(await outcome { () throws(RemoteFailure) in try await delete(request.item) })
            case .undelete:
                results.append(await outcome { () throws(RemoteFailure) in try await undelete(request.item) })
            }
        }
        // Only writes that were carried out completely may lose their common response.
        if results.allSatisfy(\.isDefinite), let failure = failure(thousandths: 80) { throw failure }
        return results
    }

    private func outcome(
        _ request: () async throws(RemoteFailure) -> RemoteResponse
    ) async -> Result<RemoteResponse, RemoteFailure> {
        do throws(RemoteFailure) {
            return .success(try await request())
        } catch {
            return .failure(error)
        }
    }

    /// Returns a failure of the whole batch with a probability, unless the history is calm.
    private func failure(thousandths: UInt64) -> RemoteFailure? {
        guard !world.isCalm, world.chance(thousandths) else { return nil }
        let failures: [RemoteFailure] = [
            .lost(NoAnswer()), .later(status: 500, retryAfter: nil), .later(status: 503, retryAfter: .seconds(2)),
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
