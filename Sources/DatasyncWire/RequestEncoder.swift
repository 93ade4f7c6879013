import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// Encodes requests in a dialect, byte for byte. Throws ``RequestEncodingError`` for values that can't be encoded,
/// before anything is sent.
public struct RequestEncoder: Sendable {
    /// The dialect of the requests.
    public let dialect: Dialect
    /// The server's address.
    public let address: ServerAddress
    /// Limits for IDs and versions. The same limits apply to requests and responses.
    public let limits: ResponseLimits

    /// Creates an encoder for one server.
    ///
    /// - Parameters:
    ///   - dialect: The server's protocol.
    ///   - address: The server's address.
    ///   - limits: The limits for IDs and versions.
    public init(_ dialect: Dialect, at address: ServerAddress, limits: ResponseLimits = ResponseLimits()) {
        self.dialect = dialect
        self.address = address
        self.limits = limits
    }
}

extension RequestEncoder {
    /// Returns a table's address: scheme, host, port and path.
    public func url(of table: RemoteTableName) -> String { origin + path(of: table) }

    private var origin: String { "\(address.scheme)://\(address.authority)" }

    private func path(of table: RemoteTableName) -> String { address.path + dialect.path(of: table) }
}

// MARK: - Writes

extension RequestEncoder {
    /// Encodes the insert of an item.
    ///
    /// - Parameter item: The values to insert.
    /// - Throws: `RequestEncodingError` if a value or the table's name can't be sent.
    public func insert(_ item: OutgoingItem) throws(RequestEncodingError) -> WireRequest {
        if let id = item.id { try check(id, in: item.table) }
        let body = try bodies.insert(item)
        return request(.post, in: item.table, action: .insert(item.id), body: body)
    }

    /// Encodes the update of an item: the changed members if the server merges, all members if it replaces.
    ///
    /// - Parameter item: The values, the names of the changed members, and the expected version.
    /// - Throws: `RequestEncodingError` if the item has no ID, or if a value can't be sent.
    public func update(_ item: OutgoingItem) throws(RequestEncodingError) -> WireRequest {
        let id = try id(of: item)
        let body = try dialect.replacesItems ? bodies.replacement(item, id: id) : bodies.patch(item)
        let method: HTTPRequest.Method = dialect.replacesItems ? .put : .patch
        return request(method, in: item.table, action: .update(id), id: id, version: try version(of: item), body: body)
    }

    /// Encodes the delete of an item.
    ///
    /// - Parameter item: The ID and the expected version.
    /// - Throws: `RequestEncodingError` if the item has no ID, or an ID that can't be part of a path.
    public func delete(_ item: OutgoingItem) throws(RequestEncodingError) -> WireRequest {
        let id = try id(of: item)
        return request(.delete, in: item.table, action: .delete(id), id: id, version: try version(of: item))
    }

    /// Encodes the undelete of an item.
    ///
    /// - Parameter item: The values and the expected version.
    /// - Throws: `RequestEncodingError` if the item has no ID, or if a value can't be sent.
    public func undelete(_ item: OutgoingItem) throws(RequestEncodingError) -> WireRequest {
        let id = try id(of: item)
        let version = try version(of: item)
        if dialect.undeletesByPost {
            return request(.post, in: item.table, action: .undelete(id), id: id, version: version)
        }
        return request(
            .put, in: item.table, action: .undelete(id), id: id, query: [includeDeleted], version: version,
            body: try bodies.replacement(item, id: id))
    }
}

// MARK: - Reads

extension RequestEncoder {
    /// Encodes the request for a page of a table.
    ///
    /// - Parameter page: The table, filter, order and position of the page.
    /// - Throws: `RequestEncodingError` if the dialect can't express the filter.
    public func page(_ page: PageRequest) throws(RequestEncodingError) -> WireRequest {
        let top = min(max(page.top, 1), dialect.greatestPage)
        var filter = page.filter ?? .constant(true)
        let order: String
        switch page.order {
        case .updatedAt(let time):
            order = "updatedAt,id"
            // The comparison includes the time itself. Rows of the same instant may arrive twice, but none is missed.
            if let time { filter = filter && .comparison(.updatedAt, by: .greaterOrEqual, to: .time(time)) }
        case .id(let id):
            order = "id"
            if let id { filter = filter && .comparison(.id, by: .greater, to: .text(id.rawValue)) }
        }
        var query: [String] = []
        if let text = try FilterWriter(dialect).text(filter) { query.append(option("$filter", value: text)) }
        query.append(option("$orderby", value: order))
        if page.skip > 0 { query.append("$skip=\(page.skip)") }
        query.append("$top=\(top)")
        if page.includeDeleted { query.append(includeDeleted) }
        if page.wantsCount { query.append(dialect.countOption) }
        return request(.get, in: page.table, action: .page(page.order, top: top), query: query)
    }

    /// Encodes the look-up of one item, deleted or not: by its path if that finds deleted items, else by a list.
    ///
    /// - Parameters:
    ///   - table: The table of the item.
    ///   - key: The item's ID, or a property with a unique value.
    /// - Throws: `RequestEncodingError` if the key can't be sent.
    public func find(_ table: RemoteTableName, key: RemoteKey) throws(RequestEncodingError) -> WireRequest {
        let filter: RemoteFilter
        switch key {
        case .id(let id):
            try check(id, in: table)
            if dialect.findsDeletedByPath {
                return request(.get, in: table, action: .find(key), id: id, query: [includeDeleted])
            }
            filter = .comparison(.id, by: .equal, to: .text(id.rawValue))
        case .property(let name, let value):
            filter = .comparison(RemoteFilter.Member(name), by: .equal, to: .text(value))
        }
        let text = try FilterWriter(dialect).text(filter) ?? ""
        // Two, to detect a property that matches several items.
        let query = [option("$filter", value: text), "$top=2", includeDeleted]
        return request(.get, in: table, action: .find(key), query: query)
    }

    private var includeDeleted: String { "\(dialect.includeDeletedName)=true" }

    private func option(_ name: String, value: String) -> String {
        "\(name)=\(PathText.queryValue(value))"
    }
}

// MARK: - Parts

extension RequestEncoder {
    private var bodies: ItemCoding { ItemCoding(dialect: dialect, limits: limits) }

    private func request(
        _ method: HTTPRequest.Method, in table: RemoteTableName, action: WireRequest.Action, id: ServerID? = nil,
        query: [String] = [], version: String? = nil, body: [UInt8] = []
    ) -> WireRequest {
        var path = path(of: table)
        if let id { path += "/" + PathText.segment(id.rawValue) }
        let url = origin + path
        if !query.isEmpty { path += "?" + query.joined(separator: "&") }
        var head = HTTPRequest(method: method, scheme: address.scheme, authority: address.authority, path: path)
        head.headerFields[.zumoVersion] = dialect.apiVersion
        head.headerFields[.accept] = "application/json"
        head.headerFields[.userAgent] = "Tandem"
        // Datasync ignores a precondition without quotes, and writes unconditionally.
        if let version { head.headerFields[.ifMatch] = "\"\(version)\"" }
        if !body.isEmpty { head.headerFields[.contentType] = "application/json; charset=utf-8" }
        return WireRequest(head: head, body: body, table: table, action: action, url: url)
    }

    private func id(of item: OutgoingItem) throws(RequestEncodingError) -> ServerID {
        guard let id = item.id else {
            throw RequestEncodingError(.missingID, message: "The item has no ID on the server.", table: item.table)
        }
        try check(id, in: item.table)
        return id
    }

    private func check(_ id: ServerID, in table: RemoteTableName) throws(RequestEncodingError) {
        guard ItemCoding.isID(id.rawValue, limits: limits), PathText.isSegment(id.rawValue) else {
            throw RequestEncodingError(
                .invalidID,
                message: "An ID must have 1 to \(limits.id) bytes, no control characters, and must not be '.' or '..'.",
                table: table)
        }
    }

    private func version(of item: OutgoingItem) throws(RequestEncodingError) -> String? {
        guard let version = item.version, !version.isEmpty else { return nil }
        guard ItemCoding.isVersion(version, limits: limits) else {
            throw RequestEncodingError(
                .invalidVersion, message: "The version has characters that a header can't carry.", table: item.table)
        }
        return version
    }
}

extension HTTPField.Name {
    static let zumoVersion = Self("zumo-api-version")!
    static let link = Self("link")!
}
