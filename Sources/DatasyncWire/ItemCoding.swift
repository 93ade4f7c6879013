import RemoteHTTP
import Tandem
import TandemSync

/// Encodes and decodes items as JSON. Separates the server's reserved members from the model's.
struct ItemCoding: Sendable {
    let dialect: Dialect
    let limits: ResponseLimits

    /// Returns whether a text is a valid ID. Servers alter longer texts and texts with control characters.
    static func isID(_ text: String, limits: ResponseLimits) -> Bool {
        !text.isEmpty && text.utf8.count <= limits.id
            && !text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }

    /// Returns whether a text can be the content of an entity tag.
    static func isVersion(_ text: String, limits: ResponseLimits) -> Bool {
        !text.isEmpty && text.utf8.count <= limits.version
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }
    }
}

// MARK: - Writing

extension ItemCoding {
    /// Encodes the body of an insert.
    func insert(_ item: OutgoingItem) throws(RequestEncodingError) -> [UInt8] {
        var members = try own(item.members, in: item.table)
        if let id = item.id { members.append(("id", .text(id.rawValue))) }
        return try write(members, in: item.table)
    }

    /// Encodes the body of an update that merges: the changed members, without reserved ones.
    func patch(_ item: OutgoingItem) throws(RequestEncodingError) -> [UInt8] {
        let members = try own(item.members, in: item.table).filter { item.changed.contains($0.key) }
        // The server turns an empty patch into invalid SQL and returns 500 for each retry.
        guard !members.isEmpty else {
            throw RequestEncodingError(.noChange, message: "The update changes no member.", table: item.table)
        }
        return try write(members, in: item.table)
    }

    /// Encodes the body of an update that replaces. It contains all members, and those unknown to the model, which the
    /// server would drop otherwise.
    func replacement(_ item: OutgoingItem, id: ServerID) throws(RequestEncodingError) -> [UInt8] {
        var members = try own(item.members, in: item.table)
        let known = Set(members.map { $0.key.lowercased() } + systemNames)
        members += item.unknown.filter { !known.contains($0.key.lowercased()) }
        members.append(("id", .text(id.rawValue)))
        return try write(members, in: item.table)
    }

    /// The reserved names in lower case, because servers compare names without case.
    private var systemNames: [String] { dialect.systemMembers.map { $0.lowercased() } }

    /// Returns the model's members if the server accepts all of them.
    private func own(
        _ members: [RemoteItem.Member], in table: RemoteTableName
    ) throws(RequestEncodingError) -> [RemoteItem.Member] {
        for (name, value) in members {
            guard !systemNames.contains(name.lowercased()) else {
                throw RequestEncodingError(
                    .memberName, message: "The server reserves this name. Give the property another wire name.",
                    table: table, member: name)
            }
            guard !dialect.namesAreColumns || MemberName.isIdentifier(name) else {
                throw RequestEncodingError(
                    .memberName, message: "The server accepts only letters, digits and underscores.", table: table,
                    member: name)
            }
            switch value {
            case .array, .object:
                // The server would store "[object Object]".
                guard dialect.format.nestedJSON else {
                    throw RequestEncodingError(
                        .value,
                        message: "The server does not accept arrays or objects: the format encodes them as strings.",
                        table: table, member: name)
                }
            default: continue
            }
        }
        return members
    }

    private func write(
        _ members: [RemoteItem.Member], in table: RemoteTableName
    ) throws(RequestEncodingError) -> [UInt8] {
        for (name, value) in members where !value.isPlain {
            throw RequestEncodingError(
                .value, message: "JSON can't contain NaN, infinity or bytes.", table: table, member: name)
        }
        var body: [UInt8] = []
        do {
            try ExactJSON.writeForeign(.object(members), to: &body)
        } catch {
            throw RequestEncodingError(.value, message: "The item can't be encoded as JSON: \(error)", table: table)
        }
        return body
    }
}

extension JSONNode {
    /// Whether the value is plain JSON.
    fileprivate var isPlain: Bool {
        switch self {
        case .null, .bool, .integer, .text: true
        case .real(let value): value.isFinite
        case .blob: false
        case .array(let nodes): nodes.allSatisfy(\.isPlain)
        case .object(let members): members.allSatisfy(\.value.isPlain)
        }
    }
}

// MARK: - Reading

extension ItemCoding {
    /// A defect of an item.
    struct Problem: Error {
        let code: InvalidResponse.Code
        let message: String
    }

    func item(_ node: JSONNode) throws(Problem) -> RemoteItem {
        guard case .object(let members) = node else {
            throw Problem(code: .wrongType, message: "An item is not a JSON object.")
        }
        var id: ServerID?
        var item = RemoteItem(id: ServerID(""))
        item.members.reserveCapacity(members.count)
        for member in members {
            switch member.key {
            case "id": id = try Self.id(member.value, limits: limits)
            case "version": item.version = try version(member.value)
            case "updatedAt": item.updatedAt = try time(member)
            case "createdAt" where dialect.hasCreatedAt: item.createdAt = try time(member)
            case "deleted": item.isDeleted = try flag(member)
            default: item.members.append(member)
            }
        }
        guard let id else { throw Problem(code: .missingID, message: "An item has no ID.") }
        item.id = id
        return item
    }

    private static func id(_ node: JSONNode, limits: ResponseLimits) throws(Problem) -> ServerID? {
        switch node {
        case .null: return nil
        case .text(let text):
            guard isID(text, limits: limits) else {
                throw Problem(code: .invalidID, message: "An ID is empty, too long, or has control characters.")
            }
            return ServerID(text)
        default: throw Problem(code: .wrongType, message: "An ID is not a string.")
        }
    }

    private func version(_ node: JSONNode) throws(Problem) -> String? {
        switch node {
        case .null: return nil
        case .text(let text):
            guard Self.isVersion(text, limits: limits) else {
                throw Problem(code: .invalidVersion, message: "A version has characters that a header can't carry.")
            }
            return text
        default: throw Problem(code: .wrongType, message: "A version is not a string.")
        }
    }

    private func time(_ member: RemoteItem.Member) throws(Problem) -> WireTimestamp? {
        switch member.value {
        case .null: return nil
        case .text(let text):
            guard let time = WireTimestamp(text) else {
                throw Problem(code: .invalidTime, message: "\(member.key) is not a valid time.")
            }
            return time
        default: throw Problem(code: .wrongType, message: "\(member.key) is not a string.")
        }
    }

    private func flag(_ member: RemoteItem.Member) throws(Problem) -> Bool {
        switch member.value {
        case .null: return false
        case .bool(let value): return value
        default: throw Problem(code: .wrongType, message: "\(member.key) is neither true nor false.")
        }
    }
}
