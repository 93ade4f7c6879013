import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// A write of a batch and its place among the caller's requests.
struct BatchedWrite: Sendable {
    let index: Int
    /// The version of the tombstone that an undelete restores; `nil` for any.
    let version: String?
    let request: KintoRequest

    /// Whether the tombstone's version is compared first.
    var needsLookUp: Bool {
        if case .write(.undelete, _) = request.purpose { version?.isEmpty == false } else { false }
    }
}

/// The error of a write without a response.
struct MissingOutcome: Error {}

extension KintoRequest {
    /// The request as a part of a batch.
    var batched: JSONNode {
        var members: [RemoteItem.Member] = [("method", .text(method.rawValue)), ("path", .text(target))]
        let headers = fields.map { (key: $0.name.rawName, value: JSONNode.text($0.value)) }
        if !headers.isEmpty { members.append(("headers", .object(headers))) }
        if let body { members.append(("body", body)) }
        return .object(members)
    }
}

extension KintoResponse {
    /// Whether this is the response to a batch that refuses the credentials of each request.
    var refusesEachPart: Bool {
        guard status == 200, case .array(let parts)? = member("responses"), !parts.isEmpty else { return false }
        return parts.allSatisfy { part in
            guard case .object(let members) = part else { return false }
            return members.contains { $0.key == "status" && $0.value == .integer(401) }
        }
    }

    /// Decodes a part of a batch's response. `nil` if it has no valid status.
    init?(_ node: JSONNode, in batch: KintoResponse) {
        guard case .object(let members) = node,
            case .integer(let status)? = members.first(where: { $0.key == "status" })?.value,
            (200...599).contains(status)
        else { return nil }
        var head = HTTPResponse(status: .init(code: Int(status)))
        // The clock and the pause are those of the whole response.
        for name in [HTTPField.Name.date, .backoff] { head.headerFields[name] = batch.head.headerFields[name] }
        if case .object(let fields)? = members.first(where: { $0.key == "headers" })?.value {
            for case (let name, .text(let value)) in fields {
                guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { continue }
                head.headerFields[name] = value
            }
        }
        let body = members.first { $0.key == "body" }?.value
        self.init(head: head, document: body == .null ? nil : body)
    }
}
