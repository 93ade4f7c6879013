import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

extension ResponseDecoder {
    /// Throws the failure that the status stands for, unless the status is a success.
    func checkStatus(
        _ response: HTTPResponse, body: [UInt8], request: WireRequest
    ) throws(RemoteFailure) {
        switch response.status.code {
        case 200, 201: return
        case 204:
            switch request.action {
            case .page, .find:
                throw bad(.status, message: "The response has no content.", request: request, response: response)
            default: return
            }
        // Accepted, partial, or a proxy's status: the server may have acted, but does not report the outcome.
        case 200..<300:
            throw bad(
                .status, message: "The status reports neither success nor failure.", request: request,
                response: response)
        case let status: throw failure(status, response: response, body: body, request: request)
        }
    }

    private func failure(
        _ status: Int, response: HTTPResponse, body: [UInt8], request: WireRequest
    ) -> RemoteFailure {
        if dialect.unauthenticated.contains(status) { return .unauthenticated(status: status, underlying: nil) }
        switch status {
        case 404, 410:
            let noTable = "No table exists at \(request.url)."
            switch request.action {
            // A list without the item would be empty. A look-up after an insert with unknown outcome must not report
            // the item as missing or refused: the insert would run twice.
            case .find(.property): return bad(.status, message: noTable, request: request, response: response)
            case .find(.id) where !dialect.findsDeletedByPath:
                return bad(.status, message: noTable, request: request, response: response)
            case .page: return .refused(status: status, message: noTable)
            // An HTML page concerns the address, not the item. A delete must not count it as success.
            case _ where !body.isEmpty && !response.isJSON: return .refused(status: status, message: noTable)
            default: return status == 404 ? .notFound : .gone
            }
        case 409, 412:
            return .conflict(
                status: status, item: conflictingItem(status, response: response, body: body, request: request),
                detail: .init(serverDate: response.serverDate, message: message(response, body: body, unlessItem: true))
            )
        case 408, 425, 429: return .later(status: status, retryAfter: response.retryAfter)
        case 400..<500: return .refused(status: status, message: message(response, body: body))
        // A redirect usually leads to a sign-in page. It says nothing about the item, and is temporary.
        default: return .later(status: status, retryAfter: response.retryAfter)
        }
    }

    /// Returns the server's item in a conflict. Returns `nil` if the item is unreadable: the conflict handling then
    /// requests it again.
    private func conflictingItem(
        _ status: Int, response: HTTPResponse, body: [UInt8], request: WireRequest
    ) -> RemoteItem? {
        if case .insert = request.action, status == 409, dialect.echoesTakenID { return nil }
        guard !body.isEmpty, let node = try? document(response, body: body, request: request),
            var item = try? item(node, response: response, request: request)
        else { return nil }
        item.version = item.version ?? version(response)
        switch request.action {
        case .update(let id), .delete(let id), .undelete(let id): return item.id == id ? item : nil
        case .insert(let id): return item.id == id ? item : nil
        case .page, .find: return nil
        }
    }

    /// Returns the server's error message: `{"error":"…"}`, `[{"errorMessage":"…"}]`, or a JSON string. Markup and
    /// binary data are not shown.
    ///
    /// - Parameter unlessItem: Whether the body may be an item. The `title` of an item is not an error message.
    func message(_ response: HTTPResponse, body: [UInt8], unlessItem: Bool = false) -> String {
        ServerMessage.text(of: response, body: body, limit: limits.message, unlessItem: unlessItem)
    }
}
