public import Foundation
public import KintoWire
public import RemoteHTTP
public import TandemHTTP

extension KintoServer {
    /// Creates access to a bucket of a server at a URL, over connections of its own.
    ///
    /// The connections are closed with the last reference.
    ///
    /// For example:
    ///
    /// ```swift
    /// let account = KintoAccount(name: "anna", password: password)
    /// let server = try KintoServer(url: serverURL, bucket: "cards", account: account)
    /// let sync = SyncContext(store: store, server: server, user: account.name)
    /// ```
    ///
    /// - Parameters:
    ///   - url: The server's address, with or without the version of the API: `https://shop.example/v1`.
    ///   - bucket: The name of the bucket.
    ///   - creates: Whether to create the bucket and its collections if they are missing and the user may do so.
    ///   - account: The account of the user.
    ///   - limits: The limits of what the server may send as records. They apply to a compressed body as well.
    ///   - configuration: Time limits, trust and proxy.
    ///   - onAlert: Receives each announcement of the server's operator once. The closure must not wait.
    /// - Throws: `NetworkError` with the code `invalidAddress` or `invalidCertificates`.
    public init(
        url: URL, bucket: String, creates: Bool = false, account: KintoAccount,
        limits: ResponseLimits = ResponseLimits(),
        configuration: AsyncHTTPTransport.Configuration = AsyncHTTPTransport.Configuration(),
        onAlert: (@Sendable (KintoAlert) -> Void)? = nil
    ) throws(NetworkError) {
        try self.init(
            url: url, bucket: bucket, creates: creates, limits: limits, configuration: configuration,
            authentication: account.authentication, onAlert: onAlert)
    }

    /// Creates access to a bucket of a server at a URL, over connections of its own.
    ///
    /// The connections are closed with the last reference.
    ///
    /// - Parameters:
    ///   - url: The server's address, with or without the version of the API: `https://shop.example/v1`.
    ///   - bucket: The name of the bucket.
    ///   - creates: Whether to create the bucket and its collections if they are missing and the user may do so.
    ///   - limits: The limits of what the server may send as records. They apply to a compressed body as well.
    ///   - configuration: Time limits, trust and proxy. The limit of a whole exchange does not apply to files.
    ///   - authentication: Returns the header fields that identify the user. It is called when they are needed first,
    ///     and once after a 401.
    ///   - onAlert: Receives each announcement of the server's operator once. The closure must not wait.
    /// - Throws: `NetworkError` with the code `invalidAddress` or `invalidCertificates`.
    public init(
        url: URL, bucket: String, creates: Bool = false, limits: ResponseLimits = ResponseLimits(),
        configuration: AsyncHTTPTransport.Configuration = AsyncHTTPTransport.Configuration(),
        authentication: Authentication? = nil, onAlert: (@Sendable (KintoAlert) -> Void)? = nil
    ) throws(NetworkError) {
        try self.init(
            url: url, bucket: bucket, creates: creates, over: AsyncHTTPTransport(configuration, limits: limits),
            limits: limits, authentication: authentication, onAlert: onAlert)
    }

    /// Creates access to a bucket of a server at a URL, over a shared transport.
    ///
    /// - Parameters:
    ///   - url: The server's address, with or without the version of the API: `https://shop.example/v1`.
    ///   - bucket: The name of the bucket.
    ///   - creates: Whether to create the bucket and its collections if they are missing and the user may do so.
    ///   - transport: The transport, which other remotes may use too.
    ///   - limits: Limits for the data that the server may send.
    ///   - authentication: Returns the header fields that identify the user. It is called when they are first needed,
    ///     and once after a 401.
    ///   - onAlert: Receives each announcement of the server's operator once. The closure must not wait.
    /// - Throws: `NetworkError` with the code `invalidAddress`.
    public init(
        url: URL, bucket: String, creates: Bool = false, over transport: any HTTPTransport & FileTransport,
        limits: ResponseLimits = ResponseLimits(), authentication: Authentication? = nil,
        onAlert: (@Sendable (KintoAlert) -> Void)? = nil
    ) throws(NetworkError) {
        self.init(
            try ServerAddress(of: url), bucket: bucket, creates: creates, over: transport, limits: limits,
            authentication: authentication, onAlert: onAlert)
    }
}
