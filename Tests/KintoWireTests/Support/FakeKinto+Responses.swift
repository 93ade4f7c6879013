import Foundation
import HTTPTypes
import Tandem

extension FakeKinto {
    /// An error response of Kinto.
    struct Refusal: Error {
        var status: Int
        var errno = 107
        var message = ""
        var details: JSONNode?
        var fields: HTTPFields = [:]
    }

    /// A response without the header fields of every response.
    struct Response {
        var status = 200
        var fields: HTTPFields = [:]
        var body: JSONNode?
    }

    /// Carries out a request as one transaction.
    ///
    /// - Parameter contention: The index of the batch's request for which another writer chose the same time.
    func respond(to request: HTTPRequest, body: [UInt8], contention: Int? = nil) -> (HTTPResponse, [UInt8]) {
        state.withLock { state in
            let before = state
            var response: Response
            do {
                guard
                    state.accepted.map({ $0.contains(request.headerFields[.authorization] ?? "") }) ?? true
                        || request.path == "/v1/batch"
                else { throw Refusal(status: 401, errno: 104, message: "Please authenticate yourself.") }
                if request.path == "/v1/batch" {
                    response = try batch(request, body: body, contention: contention, state: &state)
                } else if contention != nil {
                    throw Refusal(status: 409, errno: 122, message: "Integrity constraint violated, please retry.")
                } else {
                    response = try handle(request, body: body, state: &state)
                }
            } catch {
                response = Self.response(to: error as? Refusal ?? Refusal(status: 500, message: "\(error)"))
                if response.status >= 500 { (state.buckets, state.now) = (before.buckets, before.now) }
            }
            var head = HTTPResponse(status: .init(code: response.status), headerFields: response.fields)
            head.headerFields[.date] = Self.httpDate(state.now)
            guard let node = response.body else { return (head, []) }
            head.headerFields[.contentType] = "application/json"
            var bytes: [UInt8] = []
            try? ExactJSON.writeForeign(node, to: &bytes)
            return (head, request.method == .head ? [] : bytes)
        }
    }

    static func response(to refusal: Refusal) -> Response {
        var members: [(key: String, value: JSONNode)] = [
            ("code", .integer(Int64(refusal.status))), ("errno", .integer(Int64(refusal.errno))),
            ("error", .text("Error")),
        ]
        if !refusal.message.isEmpty { members.append(("message", .text(refusal.message))) }
        if let details = refusal.details { members.append(("details", details)) }
        return Response(status: refusal.status, fields: refusal.fields, body: .object(members))
    }

    static func invalid(_ name: String, _ message: String) -> Refusal {
        Refusal(
            status: 400, message: message,
            details: .array([
                .object([("location", .text("x")), ("name", .text(name)), ("description", .text(message))])
            ]))
    }

    static func httpDate(_ milliseconds: Int64) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds / 1000)))
    }

    // MARK: Batches

    private func batch(
        _ request: HTTPRequest, body: [UInt8], contention: Int?, state: inout State
    ) throws -> Response {
        guard case .array(let parts)? = try Self.object(body, of: request)["requests"] else {
            throw Self.invalid("requests", "Required")
        }
        if case .integer(let limit) = state.batchMaximum, limit > 0, parts.count > limit {
            throw Self.invalid("requests", "Number of requests is limited to \(limit)")
        }
        let before = state
        var responses: [JSONNode] = []
        for (index, part) in parts.enumerated() {
            guard case .object(let members) = part, case .text(let method)? = members["method"],
                case .text(let path)? = members["path"], path.hasPrefix("/buckets/")
            else { throw Self.invalid("requests", "Invalid request") }
            var inner = HTTPRequest(
                method: HTTPRequest.Method(method)!, scheme: nil, authority: nil, path: "/v1" + path,
                headerFields: [.contentType: "application/json"])
            inner.headerFields[.authorization] = request.headerFields[.authorization]
            if case .object(let fields)? = members["headers"] {
                for case (let name, .text(let value)) in fields {
                    inner.headerFields[HTTPField.Name(name)!] = value
                }
            }
            var bytes: [UInt8] = []
            if let body = members["body"] { try ExactJSON.writeForeign(body, to: &bytes) }
            var response: Response
            do {
                guard state.accepted.map({ $0.contains(inner.headerFields[.authorization] ?? "") }) ?? true else {
                    throw Refusal(status: 401, errno: 104, message: "Please authenticate yourself.")
                }
                if contention == index {
                    // All of the transaction so far is undone.
                    (state.buckets, state.now) = (before.buckets, state.now)
                    throw Refusal(status: 409, errno: 122, message: "Integrity constraint violated, please retry.")
                }
                response = try handle(inner, body: bytes, state: &state)
            } catch let refusal as Refusal where refusal.status < 500 {
                response = Self.response(to: refusal)
            }
            let headers = response.fields.map { (key: $0.name.rawName, value: JSONNode.text($0.value)) }
            responses.append(
                .object([
                    ("status", .integer(Int64(response.status))), ("path", .text("/v1" + path)),
                    ("headers", .object(headers)), ("body", response.body ?? .null),
                ]))
        }
        return Response(body: .object([("responses", .array(responses))]))
    }

    // MARK: Bodies

    static func object(
        _ body: [UInt8], of request: HTTPRequest
    ) throws -> [(key: String, value: JSONNode)] {
        guard request.headerFields[.contentType] == "application/json" else { throw Refusal(status: 415) }
        guard case .object(let members) = try body.withUnsafeBufferPointer({ try ExactJSON.parseWire($0) }) else {
            throw invalid("body", "Invalid JSON")
        }
        return members
    }

    /// Returns the members of a record to write.
    static func data(
        _ body: [UInt8], of request: HTTPRequest, id: String?
    ) throws -> [(key: String, value: JSONNode)] {
        guard case .object(let members)? = try object(body, of: request)["data"] else {
            throw invalid("data", "Required")
        }
        if let other = members["id"], other != .text(id ?? "") { throw invalid("id", "Record id does not match") }
        // A real server takes it as it is. A client must never send it.
        if members["last_modified"] != nil { throw invalid("last_modified", "Sent by the client") }
        if contains0(.object(members)) { throw Refusal(status: 503, errno: 201, fields: [.retryAfter: "3"]) }
        return members.filter { $0.key != "id" }
    }

    private static func contains0(_ node: JSONNode) -> Bool {
        switch node {
        case .text(let text): text.utf8.contains(0)
        case .array(let nodes): nodes.contains { contains0($0) }
        case .object(let members): members.contains { $0.key.utf8.contains(0) || contains0($0.value) }
        default: false
        }
    }
}

extension [RemoteMember] {
    subscript(_ name: String) -> JSONNode? { first { $0.key == name }?.value }
}

typealias RemoteMember = (key: String, value: JSONNode)
