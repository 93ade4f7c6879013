@_exported public import DatasyncWire
public import Foundation

extension DatasyncRemote {
    /// A server at a URL, over connections of its own, which are closed when the remote goes.
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
    ///   - url: Where the server is: `https://shop.example`, or with a path in front of all others,
    ///     `https://shop.example/api`. Tables are in `tables` below it.
    ///   - dialect: Which of the two tongues the server speaks.
    ///   - limits: What the server may send. A compressed body is held to them as well.
    ///   - configuration: Time limits, trust and proxy.
    ///   - authentication: Gives the header fields that say who is calling. It is asked when they are needed first, and
    ///     once after a 401.
    /// - Throws: ``NetworkError`` with the code `invalidAddress` or `invalidCertificates`.
    public convenience init(
        url: URL, dialect: Dialect = .datasync, limits: AnswerLimits = AnswerLimits(),
        configuration: AsyncHTTPTransport.Configuration = AsyncHTTPTransport.Configuration(),
        authentication: Authentication? = nil
    ) throws(NetworkError) {
        var configuration = configuration
        configuration.decompressedLimit = min(configuration.decompressedLimit, limits.bytes)
        try self.init(
            url: url, dialect: dialect, over: AsyncHTTPTransport(configuration), limits: limits,
            authentication: authentication)
    }

    /// A server at a URL, over a transport that others share.
    ///
    /// - Throws: ``NetworkError`` with the code `invalidAddress`.
    public convenience init(
        url: URL, dialect: Dialect = .datasync, over transport: any HTTPTransport,
        limits: AnswerLimits = AnswerLimits(), authentication: Authentication? = nil
    ) throws(NetworkError) {
        self.init(try ServerAddress(of: url), dialect, over: transport, limits: limits, authentication: authentication)
    }
}
