import HTTPTypes
import Tandem
import TandemSync

/// Writes requests in a dialect, byte for byte. What can't be written is an ``Unsendable``, before anything is sent.
public struct RequestWriter: Sendable {
    /// The tongue that requests are written in.
    public let dialect: Dialect
    /// Whom they are for.
    public let address: ServerAddress
    /// What an ID and a version may be: what is not taken from a server is not sent to it either.
    public let limits: AnswerLimits

    /// A writer for one server.
    public init(_ dialect: Dialect, at address: ServerAddress, limits: AnswerLimits = AnswerLimits()) {
        self.dialect = dialect
        self.address = address
        self.limits = limits
    }
}

extension RequestWriter {
    /// A table's address: scheme, host, port and path.
    public func url(of table: RemoteTableName) -> String { origin + path(of: table) }

    private var origin: String { "\(address.scheme)://\(address.authority)" }

    private func path(of table: RemoteTableName) -> String { address.path + dialect.path(of: table) }
}

// MARK: - Writes

extension RequestWriter {
    /// Creates an item.
    public func insert(_ item: OutgoingItem) throws(Unsendable) -> WireRequest {
        if let id = item.id { try check(id, item.table) }
        let body = try bodies.insert(item)
        return request(.post, item.table, .insert(item.id), body: body)
    }

    /// Changes an item: the members that changed where the server merges, all of them where it replaces.
    public func update(_ item: OutgoingItem) throws(Unsendable) -> WireRequest {
        let id = try id(of: item)
        let body = try dialect.replacesItems ? bodies.replacement(item, id) : bodies.patch(item)
        let method: HTTPRequest.Method = dialect.replacesItems ? .put : .patch
        return request(method, item.table, .update(id), id: id, version: try version(of: item), body: body)
    }

    /// Deletes an item.
    public func delete(_ item: OutgoingItem) throws(Unsendable) -> WireRequest {
        let id = try id(of: item)
        return request(.delete, item.table, .delete(id), id: id, version: try version(of: item))
    }

    /// Brings a deleted item back.
    public func undelete(_ item: OutgoingItem) throws(Unsendable) -> WireRequest {
        let id = try id(of: item)
        let version = try version(of: item)
        if dialect.undeletesByPost { return request(.post, item.table, .undelete(id), id: id, version: version) }
        return request(
            .put, item.table, .undelete(id), id: id, query: [includeDeleted], version: version,
            body: try bodies.replacement(item, id))
    }
}

// MARK: - Reads

extension RequestWriter {
    /// A page of a table.
    public func page(_ page: PageRequest) throws(Unsendable) -> WireRequest {
        let top = min(max(page.top, 1), dialect.greatestPage)
        var filter = page.filter ?? .constant(true)
        let order: String
        switch page.order {
        case .updatedAt(let time):
            order = "updatedAt,id"
            // At that time or later: rows that share an instant come again rather than never.
            if let time { filter = filter && .comparison(.updatedAt, .greaterOrEqual, .time(time)) }
        case .id(let id):
            order = "id"
            if let id { filter = filter && .comparison(.id, .greater, .text(id.rawValue)) }
        }
        var query: [String] = []
        if let text = try FilterWriter(dialect).text(filter) { query.append(option("$filter", text)) }
        query.append(option("$orderby", order))
        if page.skip > 0 { query.append("$skip=\(page.skip)") }
        query.append("$top=\(top)")
        if page.includeDeleted { query.append(includeDeleted) }
        if page.wantsCount { query.append(dialect.countOption) }
        return request(.get, page.table, .page(page.order, top: top), query: query)
    }

    /// One item, deleted ones included: by its path where the server shows deleted items there, else by a list.
    public func find(_ table: RemoteTableName, _ key: RemoteKey) throws(Unsendable) -> WireRequest {
        let filter: RemoteFilter
        switch key {
        case .id(let id):
            try check(id, table)
            if dialect.findsDeletedByPath {
                return request(.get, table, .find(key), id: id, query: [includeDeleted])
            }
            filter = .comparison(.id, .equal, .text(id.rawValue))
        case .property(let name, let value):
            filter = .comparison(RemoteFilter.Member(name), .equal, .text(value))
        }
        let text = try FilterWriter(dialect).text(filter) ?? ""
        // Two, so that a property that finds several is noticed.
        let query = [option("$filter", text), "$top=2", includeDeleted]
        return request(.get, table, .find(key), query: query)
    }

    private var includeDeleted: String { "\(dialect.includeDeletedName)=true" }

    private func option(_ name: String, _ value: String) -> String {
        "\(name)=\(PathText.queryValue(value))"
    }
}

// MARK: - Parts

extension RequestWriter {
    private var bodies: ItemCoding { ItemCoding(dialect, limits) }

    private func request(
        _ method: HTTPRequest.Method, _ table: RemoteTableName, _ action: WireRequest.Action, id: ServerID? = nil,
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
        // Without quotes a precondition is passed over by the one server, and the write goes through.
        if let version { head.headerFields[.ifMatch] = "\"\(version)\"" }
        if !body.isEmpty { head.headerFields[.contentType] = "application/json; charset=utf-8" }
        return WireRequest(head: head, body: body, table: table, action: action, url: url)
    }

    private func id(of item: OutgoingItem) throws(Unsendable) -> ServerID {
        guard let id = item.id else {
            throw Unsendable(.missingID, "The item has no ID on the server.", table: item.table)
        }
        try check(id, item.table)
        return id
    }

    private func check(_ id: ServerID, _ table: RemoteTableName) throws(Unsendable) {
        guard ItemCoding.isID(id.rawValue, limits), PathText.isSegment(id.rawValue) else {
            throw Unsendable(
                .invalidID, "An ID is 1 to \(limits.id) bytes without control characters, and no dots alone.",
                table: table)
        }
    }

    private func version(of item: OutgoingItem) throws(Unsendable) -> String? {
        guard let version = item.version, !version.isEmpty else { return nil }
        guard ItemCoding.isVersion(version, limits) else {
            throw Unsendable(.invalidVersion, "The version can't stand in a header.", table: item.table)
        }
        return version
    }
}

extension HTTPField.Name {
    static let zumoVersion = Self("zumo-api-version")!
    static let link = Self("link")!
    static let zumoToken = Self("x-zumo-auth")!
}
