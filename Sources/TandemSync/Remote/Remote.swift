import Tandem

/// A server, spoken to in its own tongue. It knows nothing of stores, queues and conflicts.
///
/// Whoever brings another server implements this, and keeps its laws:
///
/// 1. A call is one exchange with the server. It is not repeated inside, but for one repeat after the server has
///    asked who is calling. Where that may be about the item alone, a look at the table may tell.
/// 2. What a call throws is a ``RemoteFailure``, which says whether the server may have acted
///    (``RemoteFailure/mayHaveActed``).
/// 3. It keeps no state of any object.
/// 4. A call whose task is cancelled ends within a second.
/// 5. Calls come from many tasks at once.
/// 6. An answer of the wrong shape is a failure, never a guess: nothing half-read is returned.
///
/// ## Topics
/// ### The server
/// - ``format``
/// - ``address``
/// - ``url(of:)``
/// ### Reading
/// - ``page(_:)``
/// - ``find(_:_:)``
/// ### Writing
/// - ``insert(_:)``
/// - ``update(_:)``
/// - ``delete(_:)``
/// - ``undelete(_:)``
public protocol Remote: Sendable {
    /// How values look on this server's wire.
    var format: WireFormat { get }

    /// Where a table is, for errors and logs: scheme, host, port and path, and no secret: neither user nor query nor key.
    /// `nil` if there is no such address, and if not said.
    func url(of table: RemoteTableName) -> String?

    /// What changed since a place in the order of `updatedAt`, then `id`; or everything, in the order of `id`.
    func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage

    /// One item, deleted ones included; `nil` if there is none, or none that this user may see.
    ///
    /// Asked after a conflict whose answer had no item, and to look up an insert whose answer was lost.
    func find(_ table: RemoteTableName, _ key: RemoteKey) async throws(RemoteFailure) -> RemoteItem?

    /// Creates an item, with its ID if it has one. An ID that is taken is a ``RemoteFailure/conflict(status:item:detail:)``.
    func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer

    /// Changes an item that is still at ``OutgoingItem/version``; another version is a conflict. Without a version the
    /// last write wins.
    func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer

    /// Deletes an item that is still at ``OutgoingItem/version``. One that is gone is ``RemoteFailure/notFound`` or
    /// ``RemoteFailure/gone``.
    func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer

    /// Brings a deleted item back that is still at ``OutgoingItem/version``; another version is a conflict. Where the
    /// server takes no values along with it, the answer says so (``RemoteAnswer/tookValues``), and an update has to
    /// follow.
    func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer
}

extension Remote {
    public func url(of table: RemoteTableName) -> String? { nil }
}
