import HTTPTypes
import Tandem

/// Responds as the ASP.NET server of the Datasync toolkit does with its in-memory repository.
struct DatasyncRoutes {
    let visit: Visit

    func answer() throws -> ServerAnswer {
        let store = visit.core.store
        switch (visit.request.http.method, visit.id) {
        case (.get, nil): return try store.read { try list($0) }
        case (.get, let id?): return try store.read { try get(id, $0) }
        case (.post, nil):
            let body = try body()
            return try store.write { try insert(body, $0) }
        case (.put, let id?):
            let body = try body()
            return try store.write { try replace(id, body, $0) }
        case (.delete, let id?): return try store.write { try delete(id, $0) }
        case (_, nil): return ServerAnswer(.methodNotAllowed, [.allow: "GET, POST"])
        default: return ServerAnswer(.methodNotAllowed, [.allow: "GET, PUT, DELETE"])
        }
    }

    private func get(_ id: String, _ tx: ReadTransaction) throws -> ServerAnswer {
        guard let row = try visit.find(id, in: tx), try visit.sees(row) else { return ServerAnswer(.notFound) }
        if isTombstone(row), !includesTombstones { return ServerAnswer(.gone) }
        switch DatasyncPreconditions.verdict(visit.request, row, isRead: true) {
        case .goOn: return try entity(.ok, row)
        case .notModified: return ServerAnswer(.notModified)
        case .failed: return try entity(.preconditionFailed, row)
        case .broken: return ServerAnswer(.internalServerError)
        }
    }

    private func insert(_ body: DatasyncBody, _ tx: WriteTransaction) throws -> ServerAnswer {
        var problems = body.problems
        let id: String
        switch body.id {
        case nil, .null?: id = hexID()
        case .text(let text)?: id = text.isEmpty ? hexID() : text
        default:
            id = ""
            problems.append("The id is not a string.")
        }
        problems += visit.hooks.validate?(visit.name, body.members) ?? []
        if let answer = Self.refusal(problems) { return answer }
        guard visit.allowsInsert(id: id, members: body.members) else { return ServerAnswer(.unauthorized) }
        if let row = try visit.find(id, in: tx) {
            // The ID exists. Only users that may see the row receive it.
            return try visit.sees(row) ? try entity(.conflict, row) : ServerAnswer(.badRequest)
        }
        let row = try visit.insert(id: id, members: body.members, isTombstone: body.deleted ?? false, in: tx)
        var answer = try entity(.created, row)
        let http = visit.request.http
        let table = QueryText.encode(visit.request.path[1])
        answer.fields[.location] =
            "\(http.scheme ?? "http")://\(http.authority ?? "localhost")/tables/\(table)/\(QueryText.encode(id))"
        return answer
    }

    private func replace(_ id: String, _ body: DatasyncBody, _ tx: WriteTransaction) throws -> ServerAnswer {
        let problems = body.problems + (visit.hooks.validate?(visit.name, body.members) ?? [])
        if let answer = Self.refusal(problems) { return answer }
        guard case .text(let bodyID)? = body.id, bodyID.utf8.elementsEqual(id.utf8) else {
            return ServerAnswer(.badRequest)
        }
        guard let row = try visit.find(id, in: tx), try visit.sees(row) else { return ServerAnswer(.notFound) }
        let isUndelete = isTombstone(row) && body.deleted != true
        try authorize(isUndelete ? .undelete : .update, row)
        if isTombstone(row), !includesTombstones { return ServerAnswer(.gone) }
        var members = body.members
        switch DatasyncPreconditions.verdict(visit.request, row, isRead: false) {
        case .goOn: break
        case .broken: return ServerAnswer(.internalServerError)
        case .notModified, .failed:
            guard let merged = try visit.resolution(of: .update, row, sent: members) else {
                return try entity(.preconditionFailed, row)
            }
            members = merged
        }
        if visit.isRaced { return try entity(.conflict, visit.touch(row, in: tx)) }
        let written = try visit.update(
            row, isUndelete ? .undelete : .update, members: members, isTombstone: body.deleted ?? false, in: tx)
        return try entity(.ok, written)
    }

    private func delete(_ id: String, _ tx: WriteTransaction) throws -> ServerAnswer {
        guard let row = try visit.find(id, in: tx), try visit.sees(row) else { return ServerAnswer(.notFound) }
        try authorize(.delete, row)
        if isTombstone(row) { return ServerAnswer(.gone) }
        switch DatasyncPreconditions.verdict(visit.request, row, isRead: false) {
        case .goOn: break
        case .broken: return ServerAnswer(.internalServerError)
        case .notModified, .failed:
            guard try visit.resolution(of: .delete, row, sent: JSONObject()) != nil else {
                return try entity(.preconditionFailed, row)
            }
        }
        if visit.isRaced { return try entity(.conflict, visit.touch(row, in: tx)) }
        if visit.table.deletesSoftly {
            _ = try visit.update(row, .delete, members: row.members(), isTombstone: true, in: tx)
        } else {
            try visit.remove(row, in: tx)
        }
        return ServerAnswer(.noContent)
    }

    // MARK: Requests

    /// Whether the request can read and write tombstones. Name and value are case-insensitive.
    var includesTombstones: Bool {
        visit.request.parameter(ignoringCase: "__includedeleted")?.lowercased() == "true"
    }

    /// Returns whether a row is a tombstone. In a table without tombstones, `deleted` is an ordinary property.
    private func isTombstone(_ row: ServedRow) -> Bool { visit.table.deletesSoftly && row.isTombstone }

    private func body() throws -> DatasyncBody {
        let type = visit.request.header(.contentType)?.lowercased() ?? ""
        guard type.hasPrefix("application/json") else { throw EarlyAnswer(answer: ServerAnswer(.unsupportedMediaType)) }
        let json = try visit.json(readsLikeDotNet: true) { problem in
            switch problem {
            case .tooDeep: ServerAnswer(.badRequest)
            // The original server does not catch its parser's error, so it returns a server error.
            case .malformed: ServerAnswer(.internalServerError)
            }
        }
        guard case .object(let object) = json else { throw EarlyAnswer(answer: ServerAnswer(.internalServerError)) }
        guard object.members.count <= visit.configuration.limits.members else {
            throw EarlyAnswer(answer: ServerAnswer(.badRequest))
        }
        return try DatasyncBody(object, columns: visit.table.columns)
    }

    private func authorize(_ kind: ServerChange.Kind, _ row: ServedRow) throws {
        if try !visit.allows(kind, row) { throw EarlyAnswer(answer: ServerAnswer(.unauthorized)) }
    }

    /// Creates an ID of 32 hexadecimal digits.
    private func hexID() -> String {
        visit.randomBytes().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: Responses

    /// Returns a response with one row, its version and its time.
    private func entity(_ status: HTTPResponse.Status, _ row: ServedRow) throws -> ServerAnswer {
        var answer = ServerAnswer(status, json: try DatasyncBody.bytes(of: row, columns: visit.table.columns))
        answer.fields[.eTag] = "\"\(row.stamp)\""
        answer.fields[.lastModified] = WireTime.http(milliseconds: row.changed)
        return answer
    }

    private static func refusal(_ problems: [String]) -> ServerAnswer? {
        guard !problems.isEmpty else { return nil }
        return ServerAnswer(.badRequest, json: .array(problems.map { ["errorMessage": .text($0)] }))
    }
}
