import LocalStoreSupport
import Tandem
import TandemSync

/// A remote whose batches are single requests, one after the other. A killed process has sent a part of its batch.
struct BatchingRemote: ForwardingRemote {
    let base: any Remote
    let limit: Int

    var reservedNames: Set<String> { base.reservedNames }
    var insertRestoresDeleted: Bool { base.insertRestoresDeleted }

    func url(of table: RemoteTableName) -> String? { base.url(of: table) }
    func batchLimit() async throws(RemoteFailure) -> Int { limit }
    func send(
        _ requests: [RemoteRequest]
    ) async throws(RemoteFailure) -> [Result<RemoteResponse, RemoteFailure>] {
        try await base.send(requests)
    }
}
