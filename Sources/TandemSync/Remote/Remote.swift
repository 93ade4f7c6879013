import Tandem

/// A client of a server, in the server's own protocol. It does not know stores, queues or conflicts.
///
/// To support another server, implement this protocol and its requirements:
///
/// 1. A call is a single exchange with the server. It does not retry, except once after the server has requested
///    authentication. If that request may concern the item only, the client may check with a read of the table.
/// 2. A call throws a ``RemoteFailure``, which tells whether the server may have acted
///    (``RemoteFailure/mayHaveActed``).
/// 3. The client keeps no state of objects.
/// 4. A call whose task is cancelled ends within a second.
/// 5. Many tasks call concurrently.
/// 6. An invalid response is a failure, never a guess: a call never returns a partly decoded result.
///
/// ## Topics
/// ### The server
/// - ``format``
/// - ``address``
/// - ``url(of:)``
/// ### Reading
/// - ``page(_:)``
/// - ``find(_:key:)``
/// ### Writing
/// - ``insert(_:)``
/// - ``update(_:)``
/// - ``delete(_:)``
/// - ``undelete(_:)``
public protocol Remote: Sendable {
    /// The wire format of this server's values.
    var format: WireFormat { get }

    /// Returns the address of a table for errors and logs: scheme, host, port and path. It contains no secret: no user,
    /// query or key. `nil` by default, and if there is no such address.
    func url(of table: RemoteTableName) -> String?

    /// Returns the changes since a position in the order of `updatedAt`, then `id`; or all items, in the order of `id`.
    ///
    /// - Parameter request: The table, filter, order and position of the page.
    /// - Throws: ``RemoteFailure``. An empty table is not a failure.
    func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage

    /// Returns an item, also a deleted one; `nil` if there is none, or if this user may not see it.
    ///
    /// It is called after a conflict whose response had no item, and to look up an insert whose response was lost.
    ///
    /// - Parameters:
    ///   - table: The table of the item.
    ///   - key: The item's ID, or a property with a unique value.
    /// - Throws: ``RemoteFailure``, except ``RemoteFailure/notFound`` and ``RemoteFailure/gone``.
    func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem?

    /// Creates an item, with its ID if it has one. If the ID is taken, throws
    /// ``RemoteFailure/conflict(status:item:detail:)``.
    ///
    /// - Parameter item: All values of the object.
    /// - Throws: ``RemoteFailure``.
    func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse

    /// Updates an item that still has ``OutgoingItem/version``; another version is a conflict. Without a version, the
    /// last write wins.
    ///
    /// - Parameter item: All values of the object, and the names of the changed ones.
    /// - Throws: ``RemoteFailure``, among others ``RemoteFailure/conflict(status:item:detail:)``.
    func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse

    /// Deletes an item that still has ``OutgoingItem/version``. Throws ``RemoteFailure/notFound`` or
    /// ``RemoteFailure/gone`` if it does not exist.
    ///
    /// - Parameter item: The table, the ID and the version. The values may be missing.
    /// - Throws: ``RemoteFailure``, among others ``RemoteFailure/conflict(status:item:detail:)``.
    func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse

    /// Restores a deleted item that still has ``OutgoingItem/version``; another version is a conflict. If the server
    /// does not accept values in this request, the result says so (``RemoteResponse/tookValues``), and an update must
    /// follow.
    ///
    /// - Parameter item: All values of the object, and the version of the tombstone.
    /// - Throws: ``RemoteFailure``, among others ``RemoteFailure/conflict(status:item:detail:)``.
    func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse
}

extension Remote {
    /// Returns `nil`: without an own implementation, a remote reports no address.
    public func url(of table: RemoteTableName) -> String? { nil }
}
