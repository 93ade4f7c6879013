import HTTPTypes
import Tandem

/// Responds as the ASP.NET server of the Datasync toolkit does with its in-memory repository.
struct DatasyncRoutes {
    let tableRequest: TableRequest

    func respond() throws -> ServerResponse {
        let store = tableRequest.core.store
        switch (tableRequest.request.http.method, tableRequest.id) {
        case (.get, nil): return try store.read { try list($0) }
        case (.get, let id?): return try store.read { try get(id, in: $0) }
        case (.post, nil):
            let body = try body()
            return try store.write { try insert(body, in: $0) }
        case (.put, let id?):
            let body = try body()
            return try store.write { try replace(id, body: body, in: $0) }
        case (.delete, let id?): return try store.write { try delete(id, in: $0) }
        case (_, nil): return ServerResponse(.methodNotAllowed, fields: [.allow: "GET, POST"])
        default: return ServerResponse(.methodNotAllowed, fields: [.allow: "GET, PUT, DELETE"])
        }
    }

    private func get(_ id: String, in tx: ReadTransaction) throws -> ServerResponse {
        guard let row = try tableRequest.find(id, in: tx), try tableRequest.sees(row) else {
            return ServerResponse(.notFound)
        }
        if isTombstone(row), !includesTombstones { return ServerResponse(.gone) }
        switch DatasyncPreconditions.verdict(tableRequest.request, row: row, isRead: true) {
        case .goOn: return try entity(.ok, row: row)
        case .notModified: return ServerResponse(.notModified)
        case .failed: return try entity(.preconditionFailed, row: row)
        case .broken: return ServerResponse(.internalServerError)
        }
    }

    private func insert(_ body: DatasyncBody, in tx: WriteTransaction) throws -> ServerResponse {
        var problems = body.problems
        let id: String
        switch body.id {
        case nil, .null?: id = hexID()
        case .text(let text)?: id = text.isEmpty ? hexID() : text
        default:
            id = ""
            problems.append("The id is not a string.")
        }
        problems += tableRequest.hooks.validate?(tableRequest.name, body.members) ?? []
        if let response = Self.refusal(problems) { return response }
        guard tableRequest.allowsInsert(id: id, members: body.members) else { return ServerResponse(.unauthorized) }
        if let row = try tableRequest.find(id, in: tx) {
            // The ID exists. Only users that may see the row receive it.
            return try tableRequest.sees(row) ? try entity(.conflict, row: row) : ServerResponse(.badRequest)
        }
        let row = try tableRequest.insert(id: id, members: body.members, isTombstone: body.deleted ?? false, in: tx)
        var response = try entity(.created, row: row)
        let http = tableRequest.request.http
        let table = QueryStringText.encode(tableRequest.request.path[1])
        response.fields[.location] =
            "\(http.scheme ?? "http")://\(http.authority ?? "localhost")/tables/\(table)/\(QueryStringText.encode(id))"
        return response
    }

    private func replace(_ id: String, body: DatasyncBody, in tx: WriteTransaction) throws -> ServerResponse {
        let problems = body.problems + (tableRequest.hooks.validate?(tableRequest.name, body.members) ?? [])
        if let response = Self.refusal(problems) { return response }
        guard case .text(let bodyID)? = body.id, bodyID.utf8.elementsEqual(id.utf8) else {
            return ServerResponse(.badRequest)
        }
        guard let row = try tableRequest.find(id, in: tx), try tableRequest.sees(row) else {
            return ServerResponse(.notFound)
        }
        let isUndelete = isTombstone(row) && body.deleted != true
        try authorize(isUndelete ? .undelete : .update, row: row)
        if isTombstone(row), !includesTombstones { return ServerResponse(.gone) }
        var members = body.members
        switch DatasyncPreconditions.verdict(tableRequest.request, row: row, isRead: false) {
        case .goOn: break
        case .broken: return ServerResponse(.internalServerError)
        case .notModified, .failed:
            guard let merged = try tableRequest.resolution(of: .update, row: row, sent: members) else {
                return try entity(.preconditionFailed, row: row)
            }
            members = merged
        }
        if tableRequest.isRaced { return try entity(.conflict, row: tableRequest.touch(row, in: tx)) }
        let written = try tableRequest.update(
            row, kind: isUndelete ? .undelete : .update, members: members, isTombstone: body.deleted ?? false, in: tx)
        return try entity(.ok, row: written)
    }

    private func delete(_ id: String, in tx: WriteTransaction) throws -> ServerResponse {
        guard let row = try tableRequest.find(id, in: tx), try tableRequest.sees(row) else {
            return ServerResponse(.notFound)
        }
        try authorize(.delete, row: row)
        if isTombstone(row) { return ServerResponse(.gone) }
        switch DatasyncPreconditions.verdict(tableRequest.request, row: row, isRead: false) {
        case .goOn: break
        case .broken: return ServerResponse(.internalServerError)
        case .notModified, .failed:
            guard try tableRequest.resolution(of: .delete, row: row, sent: JSONObject()) != nil else {
                return try entity(.preconditionFailed, row: row)
            }
        }
        if tableRequest.isRaced { return try entity(.conflict, row: tableRequest.touch(row, in: tx)) }
        if tableRequest.table.deletesSoftly {
            _ = try tableRequest.update(row, kind: .delete, members: row.members(), isTombstone: true, in: tx)
        } else {
            try tableRequest.remove(row, in: tx)
        }
        return ServerResponse(.noContent)
    }

    // MARK: Requests

    /// Whether the request can read and write tombstones. Name and value are case-insensitive.
    var includesTombstones: Bool {
        tableRequest.request.parameter(ignoringCase: "__includedeleted")?.lowercased() == "true"
    }

    /// Returns whether a row is a tombstone. In a table without tombstones, `deleted` is an ordinary property.
    private func isTombstone(_ row: ServedRow) -> Bool { tableRequest.table.deletesSoftly && row.isTombstone }

    private func body() throws -> DatasyncBody {
        let type = tableRequest.request.header(.contentType)?.lowercased() ?? ""
        guard type.hasPrefix("application/json") else {
            throw EarlyResponse(response: ServerResponse(.unsupportedMediaType))
        }
        let json = try tableRequest.json(readsLikeDotNet: true) { problem in
            switch problem {
            case .tooDeep: ServerResponse(.badRequest)
            // The original server does not catch its parser's error, so it returns a server error.
            case .malformed: ServerResponse(.internalServerError)
            }
        }
        guard case .object(let object) = json else {
            throw EarlyResponse(response: ServerResponse(.internalServerError))
        }
        guard object.members.count <= tableRequest.configuration.limits.members else {
            throw EarlyResponse(response: ServerResponse(.badRequest))
        }
        return try DatasyncBody(object, columns: tableRequest.table.columns)
    }

    private func authorize(_ kind: ServerChange.Kind, row: ServedRow) throws {
        if try !tableRequest.allows(kind, row: row) { throw EarlyResponse(response: ServerResponse(.unauthorized)) }
    }

    /// Creates an ID of 32 hexadecimal digits.
    private func hexID() -> String {
        tableRequest.randomBytes().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: Responses

    /// Returns a response with one row, its version and its time.
    private func entity(_ status: HTTPResponse.Status, row: ServedRow) throws -> ServerResponse {
        var response = ServerResponse(
            status, json: try DatasyncBody.bytes(of: row, columns: tableRequest.table.columns))
        response.fields[.eTag] = "\"\(row.stamp)\""
        response.fields[.lastModified] = WireDateText.http(milliseconds: row.changed)
        return response
    }

    private static func refusal(_ problems: [String]) -> ServerResponse? {
        guard !problems.isEmpty else { return nil }
        return ServerResponse(.badRequest, json: .array(problems.map { ["errorMessage": .text($0)] }))
    }
}
