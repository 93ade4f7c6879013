import Tandem

/// A client of a server, in the server's own protocol. It does not know stores, queues or conflicts.
///
/// To support another server, implement this protocol and its requirements, which `RemoteConformance` of TandemTesting
/// checks:
///
/// 1. A call repeats a request only if the server has certainly not carried it out. An example is a single repetition
///    after the server has rejected the credentials. If such a rejection may concern only the item, the client may
///    check with a read of the table.
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
/// - ``url(of:)``
/// - ``reservedNames``
/// - ``insertRestoresDeleted``
/// ### Reading
/// - ``page(_:)``
/// - ``find(_:key:)``
/// - ``changeTag(of:)``
/// ### Writing
/// - ``insert(_:)``
/// - ``update(_:)``
/// - ``delete(_:)``
/// - ``undelete(_:)``
/// ### Writing in batches
/// - ``batchLimit()``
/// - ``send(_:)``
public protocol Remote: Sendable {
    /// The wire format of this server's values.
    var format: WireFormat { get }

    /// Returns the address of a table for errors and logs: scheme, host, port and path. It contains no secret: no user,
    /// query or key. `nil` by default, and if there is no such address.
    func url(of table: RemoteTableName) -> String?

    /// Returns the changes since a position in the order of `updatedAt`; or all items, in the order of `id`.
    ///
    /// - Parameter request: The table, filter, order and position of the page.
    /// - Throws: ``RemoteFailure``. An empty table is not a failure.
    func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage

    /// Returns an item, also a deleted one; `nil` if there is none, or if this user may not see it.
    ///
    /// It is called after a conflict whose response had no item. It is also called to look up an insert whose response
    /// was lost.
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

    /// The member names that the server uses itself. A model with a property of such a wire name is refused before the
    /// first request: ``SyncError/Code/reservedName``. Empty by default.
    var reservedNames: Set<String> { get }

    /// Whether an insert restores a deleted item with the same ID. Before such an insert is repeated, its ID is looked
    /// up, because another device may have deleted the item meanwhile. `false` by default.
    var insertRestoresDeleted: Bool { get }

    /// Returns the maximum number of requests of a batch, which may need a request to the server. 1 by default: the
    /// server has no batches, and ``send(_:)`` is not called.
    ///
    /// A push calls it once, and only if at least two operations are left to send. After a temporary failure, the push
    /// calls it again.
    ///
    /// - Throws: ``RemoteFailure``, if the server was asked for its limit.
    func batchLimit() async throws(RemoteFailure) -> Int

    /// Sends several writes of different items in one request, and returns an outcome for each, in the same order.
    ///
    /// No write depends on another one of the batch. Each outcome is the one that the write would have alone, so a
    /// refused write leaves the others. The remote repeats no write that may have been stored. A push has one batch in
    /// flight at a time.
    ///
    /// Throws if the batch as a whole failed. The server must then have stored all of the writes or none of them; if it
    /// may have stored them, the failure says so (``RemoteFailure/mayHaveActed``). A push sends such a batch again in
    /// halves if one of the values may be the cause. The article <doc:WritingARemote> lists the effect of each failure.
    ///
    /// - Parameter requests: At least one write, at most ``batchLimit()``.
    /// - Throws: ``RemoteFailure`` of the batch as a whole.
    func send(_ requests: [RemoteRequest]) async throws(RemoteFailure) -> [Result<RemoteResponse, RemoteFailure>]

    /// Returns a tag that differs after each change of a table. `nil` by default: the server has no such tags.
    ///
    /// A scheduler requests it between pulls, so the request must be much cheaper than a pull.
    ///
    /// - Parameter table: The table.
    /// - Throws: ``RemoteFailure``.
    func changeTag(of table: RemoteTableName) async throws(RemoteFailure) -> String?
}

extension Remote {
    /// Returns `nil`: without an own implementation, a remote reports no address.
    public func url(of table: RemoteTableName) -> String? { nil }

    /// Empty: without an own implementation, the server reserves no names.
    public var reservedNames: Set<String> { [] }

    /// `false`: without an own implementation, inserts never restore deleted items.
    public var insertRestoresDeleted: Bool { false }

    /// Returns 1: without an own implementation, the server has no batches.
    ///
    /// - Throws: Nothing.
    public func batchLimit() async throws(RemoteFailure) -> Int { 1 }

    /// Sends the writes one after the other.
    ///
    /// - Parameter requests: The writes, in order.
    /// - Throws: Nothing: each outcome has its own failure.
    public func send(
        _ requests: [RemoteRequest]
    ) async throws(RemoteFailure) -> [Result<RemoteResponse, RemoteFailure>] {
        var results: [Result<RemoteResponse, RemoteFailure>] = []
        for request in requests { results.append(await sendAlone(request)) }
        return results
    }

    /// Returns `nil`: without an own implementation, the server has no tags.
    ///
    /// - Throws: Nothing.
    public func changeTag(of table: RemoteTableName) async throws(RemoteFailure) -> String? { nil }

    /// Sends a write as a request of its own.
    ///
    /// - Parameter request: The write.
    package func sendAlone(_ request: RemoteRequest) async -> Result<RemoteResponse, RemoteFailure> {
        do throws(RemoteFailure) {
            switch request.kind {
            case .insert: return .success(try await insert(request.item))
            case .update: return .success(try await update(request.item))
            case .delete: return .success(try await delete(request.item))
            case .undelete: return .success(try await undelete(request.item))
            }
        } catch {
            return .failure(error)
        }
    }

    /// Encodes a request. Throws the error as ``RemoteFailure/notEncodable(_:)``.
    package func encoded<T>(_ encode: () throws(RequestEncodingError) -> T) throws(RemoteFailure) -> T {
        do {
            return try encode()
        } catch {
            throw .notEncodable(error)
        }
    }
}
