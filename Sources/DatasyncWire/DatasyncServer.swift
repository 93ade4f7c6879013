import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// A server that keeps rows and files: one address, one login and one transport for both.
///
/// For example:
///
/// ```swift
/// let server = try DatasyncServer(url: serverURL) { reason in
///     .bearer(try await session.token(isFresh: reason != .first))
/// }
/// let sync = SyncContext(store: store, server: server, user: "anna")
/// ```
public struct DatasyncServer: Sendable {
    /// The rows.
    public let remote: DatasyncRemote
    /// The files, by Tandem's file protocol.
    public let files: TandemFiles

    /// Creates access to a server.
    ///
    /// - Parameters:
    ///   - address: The server's address. Tables are in `tables` below it, and files in `files`.
    ///   - dialect: The dialect of its tables.
    ///   - formerAddresses: The addresses that the server had before. URLs of files keep these addresses.
    ///   - transport: Carries the requests for rows and for files.
    ///   - limits: The limits of what the server may send as rows.
    ///   - authentication: Returns the header fields that identify the user. They are cached for rows and files until
    ///     the server refuses them. The closure is then called once for all current requests, and each of these is
    ///     retried once.
    public init(
        _ address: ServerAddress, dialect: Dialect, formerAddresses: [ServerAddress] = [],
        over transport: any HTTPTransport & FileTransport, limits: ResponseLimits = ResponseLimits(),
        authentication: Authentication? = nil
    ) {
        let credentials = authentication.map(Credentials.init)
        remote = DatasyncRemote(address, dialect: dialect, over: transport, limits: limits, credentials: credentials)
        files = TandemFiles(
            address, formerAddresses: formerAddresses, over: transport, credentials: credentials)
    }
}

extension SyncContext {
    /// Creates a context for a store and a server that keeps its rows and its files. Sends no request yet.
    ///
    /// - Parameters:
    ///   - store: The store. All its models that are not local-only are synced.
    ///   - server: The server.
    ///   - user: Whose data it is: see `init(store:remote:files:user:options:)`.
    ///   - options: How the context syncs.
    public convenience init(
        store: Store, server: DatasyncServer, user: String? = nil, options: Options = Options()
    ) {
        self.init(store: store, remote: server.remote, files: server.files, user: user, options: options)
    }
}
