public import Foundation
@_exported public import KintoWire
public import RemoteHTTP
@_exported public import TandemHTTP

extension KintoRemote {
    /// Creates a remote for a bucket of a server at a URL. Its own connections are closed when the remote is released.
    ///
    /// For example:
    ///
    /// ```swift
    /// let remote = try KintoRemote(url: serverURL, bucket: "cards") { reason in
    ///     .bearer(try await session.token(isFresh: reason != .first))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - url: The server's address, with or without the version of the API: `https://shop.example/v1`.
    ///   - bucket: The name of the bucket.
    ///   - creates: Whether to create the bucket and its collections if they are missing and the user may do so.
    ///   - limits: Limits for the data that the server may send. They also limit decompressed bodies.
    ///   - configuration: Time limits, trust and proxy.
    ///   - authentication: Returns the header fields that identify the user. It is called when they are first needed,
    ///     and once after a 401.
    ///   - onAlert: Receives each announcement of the server's operator once. The closure must not wait.
    /// - Throws: `NetworkError` with the code `invalidAddress` or `invalidCertificates`.
    public convenience init(
        url: URL, bucket: String, creates: Bool = false, limits: ResponseLimits = ResponseLimits(),
        configuration: AsyncHTTPTransport.Configuration = AsyncHTTPTransport.Configuration(),
        authentication: Authentication? = nil, onAlert: (@Sendable (KintoAlert) -> Void)? = nil
    ) throws(NetworkError) {
        try self.init(
            url: url, bucket: bucket, creates: creates, over: AsyncHTTPTransport(configuration, limits: limits),
            limits: limits, authentication: authentication, onAlert: onAlert)
    }

    /// Creates a remote for a bucket of a server at a URL, over a shared transport.
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
    public convenience init(
        url: URL, bucket: String, creates: Bool = false, over transport: any HTTPTransport,
        limits: ResponseLimits = ResponseLimits(), authentication: Authentication? = nil,
        onAlert: (@Sendable (KintoAlert) -> Void)? = nil
    ) throws(NetworkError) {
        self.init(
            try ServerAddress(of: url), bucket: bucket, creates: creates, over: transport, limits: limits,
            authentication: authentication, onAlert: onAlert)
    }
}
