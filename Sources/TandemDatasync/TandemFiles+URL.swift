@_exported public import DatasyncWire
public import Foundation

extension TandemFiles {
    /// Files on a server at a URL, over connections of their own, which are closed when this goes.
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
    ///   - url: Where the server is, as a `DatasyncRemote` is given it. Files are in `files` below it.
    ///   - configuration: Time limits, trust and proxy. The limit for a whole exchange does not count.
    ///   - authentication: Gives the header fields that say who is calling. It is asked when they are needed first, and
    ///     once after a 401.
    /// - Throws: ``NetworkError`` with the code `invalidAddress` or `invalidCertificates`.
    public convenience init(
        url: URL, configuration: AsyncHTTPTransport.Configuration = AsyncHTTPTransport.Configuration(),
        authentication: Authentication? = nil
    ) throws(NetworkError) {
        try self.init(url: url, over: AsyncHTTPTransport(configuration), authentication: authentication)
    }

    /// Files on a server at a URL, over a transport that others share.
    ///
    /// - Throws: ``NetworkError`` with the code `invalidAddress`.
    public convenience init(
        url: URL, over transport: any FileTransport, authentication: Authentication? = nil
    ) throws(NetworkError) {
        self.init(try ServerAddress(of: url), over: transport, authentication: authentication)
    }
}
