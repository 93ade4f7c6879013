import RemoteHTTP
import Tandem
import TandemSync

/// Encodes and decodes records as JSON. Separates the server's members from the model's.
struct KintoItemCoding: Sendable {
    let limits: ResponseLimits

    /// The names that Kinto uses itself.
    static let reserved: Set<String> = ["id", "last_modified", "deleted", "schema"]
    /// The name under which Kinto keeps the permissions of a record beside its data.
    private static let permissions = "__permissions__"

    /// A defect of a record.
    struct Problem: Error {
        let code: InvalidResponse.Code
        let message: String
    }
}

// MARK: - Writing

extension KintoItemCoding {
    /// Encodes a whole record: the model's members, and those unknown to the model.
    func whole(_ item: OutgoingItem) throws(RequestEncodingError) -> JSONNode {
        var members = try checked(item.members, in: item.table)
        let known = Set(members.map(\.key))
        members += item.unknown.filter { !known.contains($0.key) && !Self.reserved.contains($0.key) }
        return .object([("data", .object(members))])
    }

    /// Encodes the changed members of a record. The server keeps the others.
    func patch(_ item: OutgoingItem) throws(RequestEncodingError) -> JSONNode {
        let members = try checked(item.members.filter { item.changed.contains($0.key) }, in: item.table)
        guard !members.isEmpty else {
            throw RequestEncodingError(.noChange, message: "The update changes no member.", table: item.table)
        }
        return .object([("data", .object(members))])
    }

    private func checked(
        _ members: [RemoteItem.Member], in table: RemoteTableName
    ) throws(RequestEncodingError) -> [RemoteItem.Member] {
        for (name, value) in members {
            guard !Self.reserved.contains(name), name != Self.permissions else {
                throw RequestEncodingError(
                    .memberName, message: "Kinto reserves this name. Give the property another wire name.",
                    table: table, member: name)
            }
            guard Self.isStorable(name) else {
                throw RequestEncodingError(
                    .memberName, message: "Kinto can't store a name with the character U+0000.", table: table)
            }
            if let problem = Self.problem(of: value) {
                throw RequestEncodingError(.value, message: problem, table: table, member: name)
            }
        }
        return members
    }

    /// PostgreSQL refuses U+0000 in each form. Kinto then responds with 503 to each attempt.
    private static func isStorable(_ text: String) -> Bool { !text.utf8.contains(0) }

    /// Returns the reason why Kinto can't store a value.
    private static func problem(of value: JSONNode) -> String? {
        switch value {
        case .null, .bool, .integer: return nil
        case .text(let text): return isStorable(text) ? nil : "Kinto can't store a text with the character U+0000."
        case .real(let value): return value.isFinite ? nil : "JSON can't contain NaN or infinity."
        case .blob: return "JSON can't contain bytes."
        case .array(let nodes):
            for node in nodes {
                if let problem = problem(of: node) { return problem }
            }
            return nil
        case .object(let members):
            for member in members {
                if !isStorable(member.key) { return "Kinto can't store a name with the character U+0000." }
                if let problem = problem(of: member.value) { return problem }
            }
            return nil
        }
    }
}

// MARK: - Reading

extension KintoItemCoding {
    /// Decodes a record or a tombstone.
    func item(_ node: JSONNode) throws(Problem) -> RemoteItem {
        guard case .object(let members) = node else {
            throw Problem(code: .wrongType, message: "A record is not a JSON object.")
        }
        var id: ServerID?
        var item = RemoteItem(id: ServerID(""))
        item.members.reserveCapacity(members.count)
        for member in members {
            switch member.key {
            case "id": id = try self.id(member.value)
            case "last_modified": try setTime(member.value, of: &item)
            case "deleted":
                guard case .bool(let isDeleted) = member.value else {
                    throw Problem(code: .wrongType, message: "'deleted' is neither true nor false.")
                }
                item.isDeleted = isDeleted
            // The version of the collection's schema.
            case "schema": continue
            default: item.members.append(member)
            }
        }
        guard let id else { throw Problem(code: .missingID, message: "A record has no ID.") }
        guard item.updatedAt != nil else {
            throw Problem(code: .noUpdatedAt, message: "A record has no last_modified.")
        }
        item.id = id
        return item
    }

    private func id(_ node: JSONNode) throws(Problem) -> ServerID {
        guard case .text(let text) = node else { throw Problem(code: .wrongType, message: "An ID is not a string.") }
        guard KintoPaths.isName(text, limit: limits.id) else {
            throw Problem(code: .invalidID, message: "An ID is not valid in Kinto.")
        }
        return ServerID(text)
    }

    private func setTime(_ node: JSONNode, of item: inout RemoteItem) throws(Problem) {
        guard case .integer(let milliseconds) = node else {
            throw Problem(code: .wrongType, message: "last_modified is not an integer.")
        }
        guard let time = KintoTime.timestamp(milliseconds) else {
            throw Problem(code: .invalidTime, message: "last_modified is not a valid time.")
        }
        item.version = String(milliseconds)
        item.updatedAt = time
    }
}
