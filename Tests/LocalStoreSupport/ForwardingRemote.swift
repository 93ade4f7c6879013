import TandemSync

/// A remote that forwards single requests to another one. A conforming type replaces some of them, or adds features.
///
/// It declares the features of a server itself, such as batches and change tags. By default it has none.
package protocol ForwardingRemote: Remote {
    /// The remote that does the work.
    var base: any Remote { get }
}

extension ForwardingRemote {
    package var format: WireFormat { base.format }

    package func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage { try await base.page(request) }

    package func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? {
        try await base.find(table, key: key)
    }

    package func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await base.insert(item)
    }

    package func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await base.update(item)
    }

    package func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await base.delete(item)
    }

    package func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await base.undelete(item)
    }
}
