import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// Decodes responses: records, a page, or the reason why there is neither. A response is accepted completely or not at
/// all.
struct KintoResponseDecoder: Sendable {
    let paths: KintoPaths
    let limits: ResponseLimits
    /// Whether the remote creates missing buckets and collections.
    let creates: Bool

    /// Decodes the body of a response.
    func response(_ head: HTTPResponse, body: [UInt8], to request: KintoRequest) -> KintoResponse {
        var response = KintoResponse(head: head)
        guard !body.isEmpty, head.status.code != 304, request.method != .head else { return response }
        guard body.count <= limits.bytes else {
            response.problem = problem(
                .tooLarge, message: "The body has more than \(limits.bytes) bytes.", request: request,
                response: response)
            return response
        }
        guard head.isJSON else {
            response.problem = problem(
                .notJSON, message: "The content type is not JSON.", request: request, response: response)
            return response
        }
        do {
            response.document = try body.withUnsafeBufferPointer {
                try ExactJSON.parseWire($0, maximumDigits: WireFormat.maximumDigits)
            }
        } catch {
            response.problem = problem(
                .notJSON, message: "The body is not valid JSON: \(error)", request: request, response: response)
        }
        return response
    }

    func bad(
        _ code: InvalidResponse.Code, message: String, request: KintoRequest, response: KintoResponse
    ) -> RemoteFailure {
        .invalidResponse(problem(code, message: message, request: request, response: response))
    }

    private func problem(
        _ code: InvalidResponse.Code, message: String, request: KintoRequest, response: KintoResponse
    ) -> InvalidResponse {
        InvalidResponse(
            code, message: message, table: request.table, url: paths.url(request.path), status: response.status)
    }

    /// Returns the body of a success.
    func document(_ response: KintoResponse, to request: KintoRequest) throws(RemoteFailure) -> JSONNode {
        if let problem = response.problem { throw .invalidResponse(problem) }
        guard let document = response.document else {
            throw bad(.notJSON, message: "The response has no body.", request: request, response: response)
        }
        return document
    }
}

// MARK: - Records

extension KintoResponseDecoder {
    /// Decodes the response to a write.
    func written(_ response: KintoResponse, to request: KintoRequest) throws(RemoteFailure) -> RemoteResponse {
        try checkStatus(response, request: request)
        guard case .write(let write, let id) = request.purpose else {
            throw bad(.status, message: "The request is not a write.", request: request, response: response)
        }
        // A POST of an ID that exists writes nothing and answers 200. A new record is a 201.
        guard write != .insert || response.status == 201 else {
            throw bad(.status, message: "The insert created no record.", request: request, response: response)
        }
        let item = try self.item(data(response, to: request), response: response, request: request)
        guard id == nil || item.id == id else {
            throw bad(
                .otherItem, message: "The response has the ID of another record.", request: request,
                response: response)
        }
        guard item.isDeleted == (write == .delete) else {
            throw bad(
                .wrongType, message: "The record is \(item.isDeleted ? "" : "not ")deleted after the request.",
                request: request, response: response)
        }
        return RemoteResponse(
            item: item, version: item.version, serverDate: response.head.serverDate, backoff: response.backoff)
    }

    /// Decodes the records of a list. No ID occurs twice.
    func items(
        _ response: KintoResponse, to request: KintoRequest, limit: Int
    ) throws(RemoteFailure) -> [RemoteItem] {
        try checkStatus(response, request: request)
        guard case .array(let nodes) = try data(response, to: request) else {
            throw bad(.wrongType, message: "The list is not an array.", request: request, response: response)
        }
        guard nodes.count <= limit else {
            throw bad(
                .tooManyItems, message: "The list has \(nodes.count) records, but the request asked for \(limit).",
                request: request, response: response)
        }
        return try [RemoteItem](
            nodes,
            repeated: bad(
                .repeatedID, message: "Two records of the list have the same ID.", request: request,
                response: response)
        ) { node throws(RemoteFailure) in
            try item(node, response: response, request: request)
        }
    }

    /// Decodes the response to a look-up.
    func found(
        _ response: KintoResponse, to request: KintoRequest, key: RemoteKey
    ) throws(RemoteFailure) -> RemoteItem? {
        let items = try items(response, to: request, limit: 2)
        guard items.count < 2 else {
            throw bad(
                .ambiguous, message: "The look-up of one record found several.", request: request, response: response)
        }
        guard let item = items.first else { return nil }
        guard item.matches(key) else {
            throw bad(
                .otherItem, message: "The response is another record than the requested one.", request: request,
                response: response)
        }
        return item
    }

    /// Returns the value of `data`.
    func data(_ response: KintoResponse, to request: KintoRequest) throws(RemoteFailure) -> JSONNode {
        guard case .object(let members) = try document(response, to: request),
            let data = members.first(where: { $0.key == "data" })?.value
        else {
            throw bad(.wrongType, message: "The response has no 'data'.", request: request, response: response)
        }
        return data
    }

    private func item(
        _ node: JSONNode, response: KintoResponse, request: KintoRequest
    ) throws(RemoteFailure) -> RemoteItem {
        do {
            return try KintoItemCoding(limits: limits).item(node)
        } catch {
            throw bad(error.code, message: error.message, request: request, response: response)
        }
    }
}

// MARK: - Failures

extension KintoResponseDecoder {
    /// Throws the failure that the status stands for, unless the status is a success.
    func checkStatus(_ response: KintoResponse, request: KintoRequest) throws(RemoteFailure) {
        switch response.status {
        case 200, 201: return
        // Accepted, partial, or a proxy's status: the server may have acted, but does not report the outcome.
        case 200..<300:
            throw bad(
                .status, message: "The status reports neither success nor failure.", request: request,
                response: response)
        default: throw failure(response, request: request)
        }
    }

    private func failure(_ response: KintoResponse, request: KintoRequest) -> RemoteFailure {
        let message = response.message(limit: limits.message)
        switch response.status {
        case 400 where request.purpose == .list && response.refusesPosition:
            return .outdatedPosition(status: 400, message: message)
        case 401: return .unauthenticated(status: 401, underlying: nil)
        case 404: return notFound(response, request: request)
        case 412:
            return .conflict(
                status: 412, item: existing(response, request: request),
                detail: .init(serverDate: response.head.serverDate, message: message))
        // Two writers chose the same time. The server stored nothing.
        case 408, 409, 425, 429: return later(response)
        // Kinto answers 410 if the service has ended, and not for a deleted record.
        case 400..<500: return .refused(status: response.status, message: message)
        default: return later(response)
        }
    }

    private func later(_ response: KintoResponse) -> RemoteFailure {
        .later(status: response.status, retryAfter: response.head.retryAfter ?? response.backoff)
    }

    private func notFound(_ response: KintoResponse, request: KintoRequest) -> RemoteFailure {
        if response.missing == "record" {
            switch request.purpose {
            case .record, .write(_, .some): return .notFound
            case .list, .write(_, nil), .resource: break
            }
        }
        if let missing = response.missing, missing == "bucket" || missing == "collection" {
            return .refused(status: 404, message: advice(onMissing: missing, of: request.table))
        }
        // A look-up after an insert with unknown outcome must not report the record as missing: the insert would run
        // twice.
        if request.purpose == .list {
            return bad(
                .status, message: "No Kinto server responds at \(paths.url(request.path)).", request: request,
                response: response)
        }
        return .refused(status: 404, message: "No Kinto server responds at \(paths.url(request.path)).")
    }

    /// Returns the message for a missing bucket or collection, with the request that creates it.
    private func advice(onMissing resource: String, of table: RemoteTableName) -> String {
        let path = resource == "bucket" ? paths.bucketPath : paths.collection(table)
        let name = resource == "bucket" ? paths.bucket : table.rawValue
        return "The \(resource) '\(name)' does not exist. \(advice(onCreating: path))"
    }

    /// Returns the message for a refused request to a bucket that may be missing.
    var adviceOnForbiddenBucket: String {
        "The bucket '\(paths.bucket)' may not exist. \(advice(onCreating: paths.bucketPath))"
            + " If it exists, this user may not read any record of the collection."
    }

    private func advice(onCreating path: String) -> String {
        "Create it by PUT \(paths.url(path))"
            + (creates ? " as a user with the permission." : ", or let KintoRemote create it: creates: true.")
    }

    /// Returns the server's record in a conflict. Returns `nil` if it is missing or unreadable: the conflict handling
    /// then requests it.
    private func existing(_ response: KintoResponse, request: KintoRequest) -> RemoteItem? {
        guard case .write(_, let id) = request.purpose, case .object(let details)? = response.member("details"),
            let node = details.first(where: { $0.key == "existing" })?.value,
            let item = try? KintoItemCoding(limits: limits).item(node), item.id == id
        else { return nil }
        return item
    }
}
