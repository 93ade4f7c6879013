@_exported public import DatasyncWire
public import Foundation
public import TandemHTTP

extension DatasyncServer {
    /// Creates access to a server at a URL, over connections of its own, which are closed with the last reference.
    ///
    /// For example:
    ///
    /// ```swift
    /// let server = try DatasyncServer(url: serverURL) { reason in
    ///     .bearer(try await session.token(isFresh: reason != .first))
    /// }
    /// let sync = SyncContext(store: store, server: server, user: "anna")
    /// ```
    ///
    /// - Parameters:
    ///   - url: The server's address: `https://shop.example`, or with a path in front of all others,
    ///     `https://shop.example/api`. Tables are in `tables` below it, and files in `files`.
    ///   - dialect: The dialect of its tables.
    ///   - formerURLs: The addresses that the server had before. URLs of files keep these addresses.
    ///   - limits: The limits of what the server may send as rows. They apply to a compressed body as well.
    ///   - configuration: Time limits, trust and proxy. The limit of a whole exchange does not apply to files.
    ///   - authentication: Returns the header fields that identify the user, for rows and files. It is called when they
    ///     are needed first, and once after a 401.
    /// - Throws: `NetworkError` with the code `invalidAddress` or `invalidCertificates`.
    public init(
        url: URL, dialect: Dialect = .datasync, formerURLs: [URL] = [], limits: ResponseLimits = ResponseLimits(),
        configuration: AsyncHTTPTransport.Configuration = AsyncHTTPTransport.Configuration(),
        authentication: Authentication? = nil
    ) throws(NetworkError) {
        try self.init(
            url: url, dialect: dialect, formerURLs: formerURLs, over: AsyncHTTPTransport(configuration, limits: limits),
            limits: limits, authentication: authentication)
    }

    /// Creates access to a server at a URL, over a shared transport.
    ///
    /// - Parameters:
    ///   - url: The server's address, which may end in a path.
    ///   - dialect: The server's protocol.
    ///   - formerURLs: The addresses that the server had before. URLs of files with them are still valid.
    ///   - transport: The transport, which other remotes may use too.
    ///   - limits: The limits of a valid response.
    ///   - authentication: Returns the header fields with the user's credentials; `nil` for anonymous requests.
    /// - Throws: `NetworkError` with the code `invalidAddress`.
    public init(
        url: URL, dialect: Dialect = .datasync, formerURLs: [URL] = [],
        over transport: any HTTPTransport & FileTransport, limits: ResponseLimits = ResponseLimits(),
        authentication: Authentication? = nil
    ) throws(NetworkError) {
        self.init(
            try ServerAddress(of: url), dialect: dialect, formerAddresses: try formerURLs.map(ServerAddress.init(of:)),
            over: transport, limits: limits, authentication: authentication)
    }
}
