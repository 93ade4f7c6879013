import Tandem
import TandemSync

/// A remote whose batches are single requests, one after the other. A killed process has sent a part of its batch.
struct BatchingRemote: Remote {
    let remote: any Remote
    let limit: Int

    var format: WireFormat { remote.format }
    var reservedNames: Set<String> { remote.reservedNames }
    var insertRestoresDeleted: Bool { remote.insertRestoresDeleted }

    func url(of table: RemoteTableName) -> String? { remote.url(of: table) }
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
        try await remote.send(requests)
    }
}
