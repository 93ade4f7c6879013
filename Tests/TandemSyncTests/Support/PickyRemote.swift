import LocalStoreSupport
import TandemSync
import TandemTesting

/// A scripted server with a test's responses to batches.
struct PickyRemote: ForwardingRemote {
    typealias Outcomes = [Result<RemoteResponse, RemoteFailure>]

    let base: any Remote
    /// Returns the maximum size of a batch.
    var limit: @Sendable () async throws(RemoteFailure) -> Int
    /// Returns the outcomes of a batch.
    var respond: @Sendable ([RemoteRequest]) async throws(RemoteFailure) -> Outcomes

    init(
        _ base: ScriptedRemote, limit: @escaping @Sendable () async throws(RemoteFailure) -> Int,
        respond: @escaping @Sendable ([RemoteRequest]) async throws(RemoteFailure) -> Outcomes
    ) {
        self.base = base
        self.limit = limit
        self.respond = respond
    }

    func batchLimit() async throws(RemoteFailure) -> Int { try await limit() }
    func send(_ requests: [RemoteRequest]) async throws(RemoteFailure) -> Outcomes { try await respond(requests) }
}
