@_exported public import DatasyncWire
public import Foundation
public import TandemHTTP

extension TandemFiles {
    /// Creates access to files on a server at a URL. Its own connections are closed when it is released.
    ///
    /// For example:
    ///
    /// ```swift
    /// let files = try TandemFiles(url: serverURL) { reason in
    ///     .bearer(try await session.token(isFresh: reason != .first))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - url: The server's address, as for a `DatasyncRemote`. Files are in `files` below it.
    ///   - formerURLs: The addresses that the server had before. URLs of files keep these addresses.
    ///   - configuration: Time limits, trust and proxy. The limit for a whole exchange is not used.
    ///   - authentication: Returns the header fields that identify the user. It is called when they are first needed,
    ///     and once after a 401.
    /// - Throws: `NetworkError` with the code `invalidAddress` or `invalidCertificates`.
    public convenience init(
        url: URL, formerURLs: [URL] = [],
        configuration: AsyncHTTPTransport.Configuration = AsyncHTTPTransport.Configuration(),
        authentication: Authentication? = nil
    ) throws(NetworkError) {
        try self.init(
            url: url, formerURLs: formerURLs, over: AsyncHTTPTransport(configuration), authentication: authentication)
    }

    /// Creates access to files on a server at a URL, over a shared transport.
    ///
    /// - Parameters:
    ///   - url: The server's address, which may end in a path.
    ///   - formerURLs: The addresses that the server had before. URLs of files with them are still valid.
    ///   - transport: The transport, which other remotes may use too.
    ///   - authentication: Returns the header fields with the user's credentials; `nil` for anonymous requests.
    /// - Throws: `NetworkError` with the code `invalidAddress`.
    public convenience init(
        url: URL, formerURLs: [URL] = [], over transport: any FileTransport, authentication: Authentication? = nil
    ) throws(NetworkError) {
        self.init(
            try ServerAddress(of: url), formerAddresses: try formerURLs.map(ServerAddress.init(of:)), over: transport,
            authentication: authentication)
    }
}
