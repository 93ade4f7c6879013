@_exported public import DatasyncWire
public import Foundation
@_exported public import TandemHTTP

extension DatasyncRemote {
    /// Creates a remote for a server at a URL. Its own connections are closed when the remote is released.
    ///
    /// For example:
    ///
    /// ```swift
    /// let remote = try DatasyncRemote(url: serverURL, dialect: .azureMobileApps) { reason in
    ///     .zumo(try await session.token(isFresh: reason != .first))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - url: The server's address: `https://shop.example`, or with a base path, `https://shop.example/api`. Tables
    ///     are in `tables` below it.
    ///   - dialect: The server's dialect.
    ///   - limits: Limits for the data that the server may send. They also limit decompressed bodies.
    ///   - configuration: Time limits, trust and proxy.
    ///   - authentication: Returns the header fields that identify the user. It is called when they are first needed,
    ///     and once after a 401.
    /// - Throws: `NetworkError` with the code `invalidAddress` or `invalidCertificates`.
    public convenience init(
        url: URL, dialect: Dialect = .datasync, limits: ResponseLimits = ResponseLimits(),
        configuration: AsyncHTTPTransport.Configuration = AsyncHTTPTransport.Configuration(),
        authentication: Authentication? = nil
    ) throws(NetworkError) {
        try self.init(
            url: url, dialect: dialect, over: AsyncHTTPTransport(configuration, limits: limits), limits: limits,
            authentication: authentication)
    }

    /// Creates a remote for a server at a URL, over a shared transport.
    ///
    /// - Parameters:
    ///   - url: The server's address, which may end in a path.
    ///   - dialect: The server's protocol.
    ///   - transport: The transport, which other remotes may use too.
    ///   - limits: The limits of a valid response.
    ///   - authentication: Returns the header fields with the user's credentials; `nil` for anonymous requests.
    /// - Throws: `NetworkError` with the code `invalidAddress`.
    public convenience init(
        url: URL, dialect: Dialect = .datasync, over transport: any HTTPTransport,
        limits: ResponseLimits = ResponseLimits(), authentication: Authentication? = nil
    ) throws(NetworkError) {
        self.init(
            try ServerAddress(of: url), dialect: dialect, over: transport, limits: limits,
            authentication: authentication)
    }
}
