import HTTPTypes
@_exported public import RemoteHTTP
import Tandem
import TandemSync

/// A server that speaks one of the two dialects, over any transport.
///
/// For example:
///
/// ```swift
/// let remote = DatasyncRemote(address, .datasync, over: transport) { reason in
///     .bearer(try await session.token(isFresh: reason != .first))
/// }
/// ```
public final class DatasyncRemote: Remote {
    private let writer: RequestEncoder
    private let reader: ResponseDecoder
    private let transport: any HTTPTransport
    private let credentials: Credentials?

    /// Creates a remote for a server.
    ///
    /// - Parameter authentication: Returns the header fields that identify the user. They are cached until the server
    ///   refuses them. The closure is then called once for all current requests, and each of these is retried once.
    public init(
        _ address: ServerAddress, dialect: Dialect, over transport: any HTTPTransport,
        limits: ResponseLimits = ResponseLimits(), authentication: Authentication? = nil
    ) {
        writer = RequestEncoder(dialect, at: address, limits: limits)
        reader = ResponseDecoder(dialect, at: address, limits: limits)
        self.transport = transport
        credentials = authentication.map(Credentials.init)
    }

    /// The format of values in the server's dialect.
    public var format: WireFormat { writer.dialect.format }

    /// The server's address: scheme, host, port and path.
    public var address: String { writer.address.description }

    /// Returns a table's address: scheme, host, port and path.
    public func url(of table: RemoteTableName) -> String? { writer.url(of: table) }

    /// Requests a page of a table.
    ///
    /// - Parameter request: The table, filter, order and position of the page.
    /// - Throws: `RemoteFailure`, as `Remote` requires.
    public func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
        let request = try encoded { () throws(RequestEncodingError) in try writer.page(request) }
        let (response, body) = try await exchange(request)
        return try reader.page(response, body: body, to: request)
    }

    /// Looks an item up, deleted or not. Returns `nil` if it does not exist.
    ///
    /// - Parameters:
    ///   - table: The table of the item.
    ///   - key: The item's ID, or a property with a unique value.
    /// - Throws: `RemoteFailure`, as `Remote` requires.
    public func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? {
        let request = try encoded { () throws(RequestEncodingError) in try writer.find(table, key: key) }
        let (response, body) = try await exchange(request)
        return try reader.found(response, body: body, to: request)
    }

    /// Inserts an item.
    ///
    /// - Parameter item: The values to insert.
    /// - Throws: `RemoteFailure`, as `Remote` requires.
    public func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await perform { () throws(RequestEncodingError) in try writer.insert(item) }
    }

    /// Updates an item.
    ///
    /// - Parameter item: The values, the changed members, and the version that the server must still have.
    /// - Throws: `RemoteFailure`, as `Remote` requires.
    public func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await perform { () throws(RequestEncodingError) in try writer.update(item) }
    }

    /// Deletes an item.
    ///
    /// - Parameter item: The ID, and the version that the server must still have.
    /// - Throws: `RemoteFailure`, as `Remote` requires.
    public func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await perform { () throws(RequestEncodingError) in try writer.delete(item) }
    }

    /// Restores a deleted item.
    ///
    /// - Parameter item: The values, and the version of the tombstone.
    /// - Throws: `RemoteFailure`, as `Remote` requires.
    public func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse {
        try await perform { () throws(RequestEncodingError) in try writer.undelete(item) }
    }

    /// Creates a remote that shares its credentials.
    init(
        _ address: ServerAddress, dialect: Dialect, over transport: any HTTPTransport, limits: ResponseLimits,
        credentials: Credentials?
    ) {
        writer = RequestEncoder(dialect, at: address, limits: limits)
        reader = ResponseDecoder(dialect, at: address, limits: limits)
        self.transport = transport
        self.credentials = credentials
    }
}

// MARK: - Exchanges

extension DatasyncRemote {
    private func perform(
        _ write: () throws(RequestEncodingError) -> WireRequest
    ) async throws(RemoteFailure) -> RemoteResponse {
        let request = try encoded(write)
        let (response, body) = try await exchange(request)
        return try reader.remoteResponse(response, body: body, to: request)
    }

    /// Sends a request, and retries it once with new credentials if the server refused the first ones.
    ///
    /// - Throws: ``RemoteFailure/refused(status:message:)`` if the server refused both credentials but accepts them
    ///   from other requests.
    private func exchange(_ request: WireRequest) async throws(RemoteFailure) -> (HTTPResponse, [UInt8]) {
        guard let credentials else { return try await send(request, with: nil) }
        var refused: (issue: Credentials.Issue, status: Int)?
        while true {
            let issue = try await credentials.current(after: refused?.status)
            let (response, body) = try await send(request, with: issue.fields)
            let status = response.status.code
            guard writer.dialect.unauthenticated.contains(status) else {
                if response.status.kind == .successful { await credentials.recordUsed(issue.number) }
                return (response, body)
            }
            if let first = refused?.issue,
                await isOfTheRequest(request, first: first, second: issue, credentials: credentials)
            {
                throw .refused(status: status, message: reader.message(response, body: body))
            }
            await credentials.refuse(issue.number, status: status)
            // The second refusal is final.
            guard refused == nil else { return (response, body) }
            refused = (issue, status)
        }
    }

    /// Returns whether the server refuses the request for its content, not for its credentials. Reads one row of the
    /// table with the second credentials: the server refuses expired ones unless the table is public.
    private func isOfTheRequest(
        _ request: WireRequest, first: Credentials.Issue, second: Credentials.Issue, credentials: Credentials
    ) async -> Bool {
        let page = PageRequest(table: request.table, order: .id(after: nil), top: 1)
        guard await credentials.mayBeAccepted(first: first, second: second), let read = try? writer.page(page),
            let response = try? await send(read, with: second.fields), response.0.status.kind == .successful
        else { return false }
        await credentials.recordUsed(second.number)
        return true
    }

    private func send(
        _ request: WireRequest, with fields: HTTPFields?
    ) async throws(RemoteFailure) -> (HTTPResponse, [UInt8]) {
        var head = request.head
        // The app's fields override those of this type.
        for field in fields ?? [:] { head.headerFields[field.name] = field.value }
        return try await transport.send(
            head, body: request.body, limit: reader.limits.bytes, table: request.table, url: request.url)
    }
}
