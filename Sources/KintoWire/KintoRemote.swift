import HTTPTypes
@_exported public import RemoteHTTP
import Tandem
import TandemSync

/// A bucket of a Kinto server, over any transport. Each model is a collection of the bucket.
///
/// For example:
///
/// ```swift
/// let remote = KintoRemote(address, bucket: "cards", creates: true, over: transport) { _ in
///     .basic(user: "anna", password: password)
/// }
/// ```
///
/// An item's version and time are its `last_modified`. Its writes are sent one after the other, in batches of up to the
/// server's `batch_max_requests`.
public final class KintoRemote: Remote {
    let encoder: KintoRequestEncoder
    let client: KintoClient
    let state = KintoState()
    /// Admits a single write at a time. Concurrent writers to PostgreSQL choose the same time, and all but one fail.
    let writeLock = AsyncLock()

    /// Creates a remote for a bucket.
    ///
    /// - Parameters:
    ///   - address: The server's address, with or without the version of the API: `https://shop.example/v1`.
    ///   - bucket: The name of the bucket.
    ///   - creates: Whether to create the bucket and its collections if they are missing and the user may do so.
    ///     Otherwise the error names the request that creates them.
    ///   - transport: Carries the requests.
    ///   - limits: Limits for the data that the server may send.
    ///   - authentication: Returns the header fields that identify the user. They are cached until the server refuses
    ///     them. The closure is then called once for all current requests, and each of these is retried once.
    ///   - onAlert: Receives each announcement of the server's operator once. The closure must not wait.
    public convenience init(
        _ address: ServerAddress, bucket: String, creates: Bool = false, over transport: any HTTPTransport,
        limits: ResponseLimits = ResponseLimits(), authentication: Authentication? = nil,
        onAlert: (@Sendable (KintoAlert) -> Void)? = nil
    ) {
        self.init(
            address, bucket: bucket, creates: creates, over: transport, limits: limits, onAlert: onAlert,
            credentials: authentication.map(Credentials.init))
    }

    /// Creates a remote that shares its credentials.
    init(
        _ address: ServerAddress, bucket: String, creates: Bool, over transport: any HTTPTransport,
        limits: ResponseLimits, onAlert: (@Sendable (KintoAlert) -> Void)?, credentials: Credentials?
    ) {
        let paths = KintoPaths(address, bucket: bucket)
        encoder = KintoRequestEncoder(paths: paths, limits: limits)
        client = KintoClient(
            KintoResponseDecoder(paths: paths, limits: limits, creates: creates), over: transport,
            credentials: credentials, onAlert: onAlert)
    }

    var decoder: KintoResponseDecoder { client.decoder }
    var paths: KintoPaths { encoder.paths }

    /// The format of values: arrays and objects as JSON, times in milliseconds.
    public var format: WireFormat { WireFormat(fractionDigits: 3, nestedJSON: true) }

    /// The address of the API: scheme, host, port and path.
    public var address: String { paths.api.description }

    /// Whether missing buckets and collections are created.
    public var creates: Bool { decoder.creates }

    /// The name of the bucket.
    public var bucket: String { paths.bucket }

    /// Returns the address of a collection's records.
    public func url(of table: RemoteTableName) -> String? { paths.url(paths.records(table)) }

    /// The names of Kinto's own members.
    public var reservedNames: Set<String> { KintoItemCoding.reserved }

    /// `true`: a `PUT` of a deleted record restores it.
    public var insertRestoresDeleted: Bool { true }

    /// Inserts an item: by a `PUT` if it has an ID, else by a `POST`.
    public func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await write(RemoteRequest(.insert, item: item))
    }

    /// Updates the changed members of an item.
    public func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await write(RemoteRequest(.update, item: item))
    }

    /// Deletes an item.
    public func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await write(RemoteRequest(.delete, item: item))
    }

    /// Restores a deleted item with its values.
    ///
    /// Kinto has no precondition for tombstones, so that the tombstone's version is read first. A restore and another
    /// delete in between are not noticed.
    public func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await write(RemoteRequest(.undelete, item: item))
    }
}
