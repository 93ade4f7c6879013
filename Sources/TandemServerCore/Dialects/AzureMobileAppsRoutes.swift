import Foundation
import HTTPTypes
import Tandem

/// Responds as Azure Mobile Apps' Node backend does, version 4.0.3 with SQLite.
///
/// The defects of its SQLite provider are not reproduced: `startswith` and similar functions find the right rows.
struct AzureMobileAppsRoutes {
    let tableRequest: TableRequest

    func respond() throws -> ServerResponse {
        var response = try route()
        response.fields[.cacheControl] = "no-cache"
        response.fields[.zumoServerVersion] = "node-4.0.3"
        return response
    }

    private func route() throws -> ServerResponse {
        let store = tableRequest.core.store
        switch (tableRequest.request.http.method, tableRequest.id) {
        case (.get, nil): return try store.read { try list($0) }
        case (.get, let id?): return try store.read { try get(id, in: $0) }
        case (.post, nil): return try store.write { try insert($0) }
        case (.post, let id?): return try store.write { try undelete(id, in: $0) }
        case (.patch, let id): return try store.write { try update(id, in: $0) }
        case (.delete, let id?): return try store.write { try delete(id, in: $0) }
        case (.head, _): return Self.error(.internalServerError, text: "HEAD is not supported")
        default: return Self.notFoundPage
        }
    }

    // MARK: Single rows

    private func get(_ id: String, in tx: ReadTransaction) throws -> ServerResponse {
        // Only lists include tombstones, whatever the query says.
        guard let row = try tableRequest.find(id, in: tx), !row.isTombstone, try tableRequest.sees(row) else {
            return Self.missing
        }
        return try item(.ok, row: row, in: tx)
    }

    private func insert(_ tx: WriteTransaction) throws -> ServerResponse {
        let sent = try entity()
        var item = sent
        try refuseReserved(item)
        let version = item.remove(ignoringCase: "version")
        let id = try Self.id(item.remove(ignoringCase: "id")) ?? uuid()
        var columns = try AzureColumns(tableRequest, tx: tx)
        let members = try columns.membersToStore(item)
        try refuse(invalid: members)
        guard tableRequest.allowsInsert(id: id, members: members) else { throw Self.unauthorized }
        guard try tableRequest.find(id, in: tx) == nil else {
            // The body is the request, not the existing row. A client must request the row.
            return Self.weaklyTagged(ServerResponse(.conflict, json: .object(sent)))
        }
        try columns.save(in: tx)
        // A version in the request is stored as it is, and read as bytes.
        let stamp: String? =
            if case .text(let version)? = version { Data(version.utf8).base64EncodedString() } else { nil }
        let row = try tableRequest.insert(id: id, members: members, stamp: stamp, in: tx)
        return try self.item(.created, row: row, in: tx)
    }

    private func update(_ pathID: String?, in tx: WriteTransaction) throws -> ServerResponse {
        var item = try entity()
        try refuseReserved(item)
        let bodyVersion = item.remove(ignoringCase: "version")
        let bodyID = try Self.id(item.remove(ignoringCase: "id"))
        if let pathID, let bodyID, !pathID.utf8.elementsEqual(bodyID.utf8) {
            return Self.error(.badRequest, text: "Item id does not match id in path")
        }
        guard let id = pathID ?? bodyID else { return Self.error(.badRequest, text: "An id must be given") }
        guard let row = try tableRequest.find(id, in: tx), !row.isTombstone, try tableRequest.sees(row) else {
            return Self.missing
        }
        try authorize(.update, row: row)
        var columns = try AzureColumns(tableRequest, tx: tx)
        var members = try row.members()
        if let version = ifMatch {
            if !version.utf8.elementsEqual(row.stamp.utf8) {
                guard let merged = try tableRequest.resolution(of: .update, row: row, sent: item) else {
                    return try self.item(.preconditionFailed, row: row, in: tx)
                }
                item = merged
            }
        } else if case .text(let version)? = bodyVersion, !version.utf8.elementsEqual(row.stamp.utf8) {
            return try self.item(.conflict, row: row, in: tx)
        }
        guard !item.members.isEmpty else {
            return Self.error(.internalServerError, text: "Incorrect syntax near 'WHERE'")
        }
        for (name, value) in try columns.membersToStore(item).members { members[name] = value }
        try refuse(invalid: members)
        try columns.save(in: tx)
        let updated = try tableRequest.update(row, kind: .update, members: members, isTombstone: false, in: tx)
        return try self.item(.ok, row: updated, in: tx)
    }

    private func delete(_ id: String, in tx: WriteTransaction) throws -> ServerResponse {
        guard let row = try tableRequest.find(id, in: tx), !row.isTombstone, try tableRequest.sees(row) else {
            return Self.missing
        }
        try authorize(.delete, row: row)
        if let conflict = try stale(row, kind: .delete, in: tx) { return conflict }
        guard tableRequest.table.deletesSoftly else {
            let response = try item(.ok, row: row, in: tx)
            try tableRequest.remove(row, in: tx)
            return response
        }
        let deleted = try tableRequest.update(row, kind: .delete, members: row.members(), isTombstone: true, in: tx)
        return try item(.ok, row: deleted, in: tx)
    }

    private func undelete(_ id: String, in tx: WriteTransaction) throws -> ServerResponse {
        guard let row = try tableRequest.find(id, in: tx), tableRequest.table.deletesSoftly, try tableRequest.sees(row)
        else {
            return Self.missing
        }
        try authorize(.undelete, row: row)
        if let conflict = try stale(row, kind: .undelete, in: tx) { return conflict }
        // Also applies to a live row: then only the version changes.
        let live = try tableRequest.update(row, kind: .undelete, members: row.members(), isTombstone: false, in: tx)
        return try item(.created, row: live, in: tx)
    }

    /// Returns the response to a delete or an undelete of an older version, or `nil` to continue.
    private func stale(_ row: ServedRow, kind: ServerChange.Kind, in tx: ReadTransaction) throws -> ServerResponse? {
        guard let version = ifMatch, !version.utf8.elementsEqual(row.stamp.utf8),
            try tableRequest.resolution(of: kind, row: row, sent: JSONObject()) == nil
        else { return nil }
        return try item(.preconditionFailed, row: row, in: tx)
    }

    // MARK: Parts of a request

    /// The version in `If-Match`, with or without quotes. `*` is an ordinary version, which no row has.
    private var ifMatch: String? {
        guard let text = tableRequest.request.header(.ifMatch), !text.isEmpty else { return nil }
        guard text.utf8.count >= 2, text.utf8.first == 0x22, text.utf8.last == 0x22 else { return text }
        return String(text.utf8.dropFirst().dropLast()) ?? text
    }

    /// Decodes the entity in the body. Returns an empty one if the request has no body.
    private func entity() throws -> JSONObject {
        guard !tableRequest.request.body.isEmpty else { return JSONObject() }
        if let type = tableRequest.request.header(.contentType), !type.lowercased().hasPrefix("application/json") {
            throw Self.failure(.internalServerError, text: "Unsupported content type")
        }
        let json = try tableRequest.json(readsLikeDotNet: false) { problem in
            switch problem {
            case .tooDeep: Self.error(.badRequest, text: "The JSON is nested too deeply")
            case .malformed(let place): Self.error(.badRequest, text: "Unexpected token in JSON at position \(place)")
            }
        }
        guard case .object(let entity) = json else {
            throw Self.failure(.internalServerError, text: "The body is not an object")
        }
        guard entity.members.count <= tableRequest.configuration.limits.members else {
            throw Self.failure(.badRequest, text: "The item has too many properties")
        }
        return entity
    }

    private func refuseReserved(_ item: JSONObject) throws {
        for (name, _) in item.members where ["createdat", "updatedat", "deleted"].contains(name.lowercased()) {
            throw Self.failure(.badRequest, text: "Cannot update item with property '\(name)' as it is reserved")
        }
    }

    /// Returns the ID in a body. Returns `nil` if it is missing, null or empty; the server then creates one.
    private static func id(_ value: JSONValue?) throws -> String? {
        switch value {
        case nil, .null?: return nil
        case .text(let id)?: return id.isEmpty ? nil : id
        case .number(let digits)?: return digits
        default: throw failure(.badRequest, text: "The id is not a string")
        }
    }

    private func refuse(invalid members: JSONObject) throws {
        if let problem = tableRequest.hooks.validate?(tableRequest.name, members).first {
            throw Self.failure(.badRequest, text: problem)
        }
    }

    private func authorize(_ kind: ServerChange.Kind, row: ServedRow) throws {
        if try !tableRequest.allows(kind, row: row) { throw Self.unauthorized }
    }

    /// Creates a random UUID, version 4.
    private func uuid() -> String {
        var bytes = tableRequest.randomBytes()
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return NSUUID(uuidBytes: bytes).uuidString.lowercased()
    }

    // MARK: Responses

    /// Returns a response with one row and its version.
    private func item(_ status: HTTPResponse.Status, row: ServedRow, in tx: ReadTransaction) throws -> ServerResponse {
        let columns = try AzureColumns(tableRequest, tx: tx)
        var response = ServerResponse(status, json: .object(try columns.item(row)))
        response.fields[.eTag] = "\"\(row.stamp)\""
        return response
    }

    private static let unauthorized = failure(.unauthorized, text: "You are not allowed to do this")
    static let missing = error(.notFound, text: "The item does not exist")

    static let notFoundPage = ServerResponse(
        .notFound, fields: [.contentType: "text/html; charset=utf-8"],
        body: Array("<!DOCTYPE html><html><body><pre>Not Found</pre></body></html>\n".utf8))

    static func error(_ status: HTTPResponse.Status, text: String) -> ServerResponse {
        weaklyTagged(ServerResponse(status, json: ["error": .text(text)]))
    }

    static func failure(_ status: HTTPResponse.Status, text: String) -> EarlyResponse {
        EarlyResponse(response: error(status, text: text))
    }

    /// Adds a weak tag computed from the body, as Express does for responses without a version. It is not a version.
    static func weaklyTagged(_ response: ServerResponse) -> ServerResponse {
        // FNV-1a: the hash only has to change with the body.
        let hash = response.body.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let bytes = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: hash >> UInt64($0)) }
        var response = response
        response.fields[.eTag] = "W/\"\(String(response.body.count, radix: 16))-\(Data(bytes).base64EncodedString())\""
        return response
    }

    // MARK: The version of the protocol

    static func checkVersion(_ request: ServerRequest) throws {
        let version = request.header(.zumoVersion) ?? request.parameter(ignoringCase: "zumo-api-version") ?? ""
        guard !isVersion(version) else { return }
        throw failure(
            .badRequest,
            text: "An invalid API version was specified in the request, "
                + "this request needs to specify a ZUMO-API-VERSION of 2.0.0.")
    }

    /// Returns whether a version is 2.0.x.
    static func isVersion(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 3 && parts[0].elementsEqual("2".utf8) && parts[1].elementsEqual("0".utf8)
            && !parts[2].isEmpty && parts[2].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
