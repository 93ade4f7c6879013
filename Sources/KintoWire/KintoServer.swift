import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// A bucket of a Kinto server with records and files: one address, one login and one transport for both.
///
/// For example:
///
/// ```swift
/// let server = try KintoServer(url: serverURL, bucket: "cards", creates: true, account: account)
/// let sync = SyncContext(store: store, server: server, user: account.name)
/// ```
public struct KintoServer: Sendable {
    /// The records.
    public let remote: KintoRemote
    /// The files, by the plugin `kinto-attachment`.
    public let files: KintoFiles

    /// Creates access to a bucket.
    ///
    /// - Parameters:
    ///   - address: The server's address, with or without the version of the API: `https://shop.example/v1`.
    ///   - bucket: The name of the bucket.
    ///   - creates: Whether to create the bucket and its collections if they are missing and the user may do so.
    ///   - transport: Carries the requests for records and for files.
    ///   - limits: The limits of what the server may send as records.
    ///   - authentication: Returns the header fields that identify the user. They are cached until the server refuses
    ///     them. The closure is then called once for all current requests, and each of these is retried once.
    ///   - onAlert: Receives each announcement of the server's operator once. The closure must not wait.
    public init(
        _ address: ServerAddress, bucket: String, creates: Bool = false,
        over transport: any HTTPTransport & FileTransport, limits: ResponseLimits = ResponseLimits(),
        authentication: Authentication? = nil, onAlert: (@Sendable (KintoAlert) -> Void)? = nil
    ) {
        let credentials = authentication.map(Credentials.init)
        remote = KintoRemote(
            address, bucket: bucket, creates: creates, over: transport, limits: limits, onAlert: onAlert,
            credentials: credentials)
        files = KintoFiles(remote, over: transport)
    }
}

extension SyncContext {
    /// Creates a context for a store and a bucket of a Kinto server. Sends no request yet.
    ///
    /// - Parameters:
    ///   - store: The store. All its models that are not local-only are synced.
    ///   - server: The server.
    ///   - user: Whose data it is: see `init(store:remote:files:user:options:)`.
    ///   - options: How the context syncs.
    public convenience init(
        store: Store, server: KintoServer, user: String? = nil, options: Options = Options()
    ) {
        self.init(store: store, remote: server.remote, files: server.files, user: user, options: options)
    }
}
