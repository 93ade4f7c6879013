import TandemSync
import TandemTesting

/// A scripted server whose batches a test answers.
struct PickyRemote: Remote {
    typealias Outcomes = [Result<RemoteResponse, RemoteFailure>]

    let base: ScriptedRemote
    /// Returns the maximum size of a batch.
    var limit: @Sendable () async throws(RemoteFailure) -> Int
    /// Returns the outcomes of a batch.
    var answer: @Sendable ([RemoteRequest]) async throws(RemoteFailure) -> Outcomes

    init(
        _ base: ScriptedRemote, limit: @escaping @Sendable () async throws(RemoteFailure) -> Int,
        answer: @escaping @Sendable ([RemoteRequest]) async throws(RemoteFailure) -> Outcomes
    ) {
        self.base = base
        self.limit = limit
        self.answer = answer
    }

    var format: WireFormat { base.format }
    func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage { try await base.page(request) }
    func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? {
        try await base.find(table, key: key)
    }
    func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { try await base.insert(item) }
    func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { try await base.update(item) }
    func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { try await base.delete(item) }
    func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await base.undelete(item)
    }
    func batchLimit() async throws(RemoteFailure) -> Int { try await limit() }
    func send(_ requests: [RemoteRequest]) async throws(RemoteFailure) -> Outcomes { try await answer(requests) }
}
