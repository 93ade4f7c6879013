import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

/// Decodes responses: an item, a page, or the reason why there is neither.
///
/// A response is accepted completely or not at all. The decoder validates everything before it returns: one JSON text,
/// valid and unique IDs, versions that a header can carry, the requested order. A faulty server or proxy can therefore
/// not corrupt a store.
public struct ResponseDecoder: Sendable {
    /// The dialect of the responses.
    public let dialect: Dialect
    /// The server's address. Links to other hosts are refused.
    public let address: ServerAddress
    /// Limits for the data that the server may send.
    public let limits: ResponseLimits

    /// Creates a decoder for one server.
    ///
    /// - Parameters:
    ///   - dialect: The server's protocol.
    ///   - address: The server's address.
    ///   - limits: The limits of a valid response.
    public init(_ dialect: Dialect, at address: ServerAddress, limits: ResponseLimits = ResponseLimits()) {
        self.dialect = dialect
        self.address = address
        self.limits = limits
    }
}

// MARK: - Writes

extension ResponseDecoder {
    /// Decodes the response to an insert, an update, a delete or an undelete.
    ///
    /// - Parameters:
    ///   - response: The status and the header fields.
    ///   - body: The bytes of the response.
    ///   - request: The request that was sent.
    /// - Throws: `RemoteFailure` for a status that is not a success, and for an invalid item.
    public func remoteResponse(
        _ response: HTTPResponse, body: [UInt8], to request: WireRequest
    ) throws(RemoteFailure) -> RemoteResponse {
        try checkStatus(response, body: body, request: request)
        var result = RemoteResponse(serverDate: response.serverDate)
        if case .undelete = request.action { result.tookValues = !dialect.undeletesByPost }
        // A 204 and an empty 200 have no body. The entity tag contains the version.
        guard response.status.code != 204, !body.isEmpty else {
            result.version = version(response)
            return result
        }
        let item = try item(response, body: body, request: request)
        result.item = item
        result.version = item.version ?? version(response)
        result.item?.version = result.version
        switch request.action {
        case .update(let id), .delete(let id):
            guard item.id == id else {
                throw bad(
                    .otherItem, message: "The response has the ID of another item.", request: request,
                    response: response)
            }
        case .undelete(let id):
            guard item.id == id else {
                throw bad(
                    .otherItem, message: "The response has the ID of another item.", request: request,
                    response: response)
            }
            guard !item.isDeleted else {
                throw bad(
                    .wrongType, message: "The restored item is still deleted.", request: request, response: response)
            }
        case .insert, .page, .find: break
        }
        return result
    }

    /// Decodes the response to a look-up of one item. Returns `nil` if the item does not exist.
    ///
    /// - Parameters:
    ///   - response: The status and the header fields.
    ///   - body: The bytes of the response.
    ///   - request: The request that was sent.
    /// - Throws: `RemoteFailure` for a status that is neither a success nor "not found", and for an invalid item.
    public func found(
        _ response: HTTPResponse, body: [UInt8], to request: WireRequest
    ) throws(RemoteFailure) -> RemoteItem? {
        guard case .find(let key) = request.action else {
            throw bad(
                .status, message: "The request is not a look-up of an item.", request: request, response: response)
        }
        let isByPath = if case .id = key { dialect.findsDeletedByPath } else { false }
        do {
            try checkStatus(response, body: body, request: request)
        } catch .notFound where isByPath {
            return nil
        }
        let item: RemoteItem?
        if isByPath {
            var found = try self.item(response, body: body, request: request)
            found.version = found.version ?? version(response)
            item = found
        } else {
            // The entity tag of a list belongs to the list, weak or not.
            let items = try items(response, body: body, request: request).items
            guard items.count < 2 else {
                throw bad(
                    .ambiguous, message: "The look-up of one item found several.", request: request, response: response)
            }
            item = items.first
        }
        guard let item else { return nil }
        guard item.matches(key) else {
            throw bad(
                .otherItem, message: "The response is another item than the requested one.", request: request,
                response: response)
        }
        return item
    }
}

// MARK: - Parts of a response

extension ResponseDecoder {
    func bad(
        _ code: InvalidResponse.Code, message: String, request: WireRequest, response: HTTPResponse
    ) -> RemoteFailure {
        .invalidResponse(
            InvalidResponse(
                code, message: message, table: request.table, url: request.url, status: response.status.code))
    }

    /// Parses the body as JSON.
    func document(
        _ response: HTTPResponse, body: [UInt8], request: WireRequest
    ) throws(RemoteFailure) -> JSONNode {
        guard body.count <= limits.bytes else {
            throw bad(
                .tooLarge, message: "The body has more than \(limits.bytes) bytes.", request: request,
                response: response)
        }
        guard response.isJSON else {
            throw bad(.notJSON, message: "The content type is not JSON.", request: request, response: response)
        }
        do {
            return try body.withUnsafeBufferPointer {
                try ExactJSON.parseWire($0, maximumDigits: WireFormat.maximumDigits)
            }
        } catch {
            throw bad(.notJSON, message: "The body is not valid JSON: \(error)", request: request, response: response)
        }
    }

    private func item(
        _ response: HTTPResponse, body: [UInt8], request: WireRequest
    ) throws(RemoteFailure) -> RemoteItem {
        try item(try document(response, body: body, request: request), response: response, request: request)
    }

    func item(
        _ node: JSONNode, response: HTTPResponse, request: WireRequest
    ) throws(RemoteFailure) -> RemoteItem {
        do {
            return try ItemCoding(dialect: dialect, limits: limits).item(node)
        } catch {
            throw bad(error.code, message: error.message, request: request, response: response)
        }
    }

    /// Returns the version in a strong entity tag. Weak tags are computed from the body, and occur on lists and errors.
    func version(_ response: HTTPResponse) -> String? {
        guard let tag = response.headerFields[.eTag], tag.utf8.count >= 2, tag.utf8.first == UInt8(ascii: "\""),
            tag.utf8.last == UInt8(ascii: "\"")
        else { return nil }
        let version = String(tag.dropFirst().dropLast())
        return ItemCoding.isVersion(version, limits: limits) ? version : nil
    }
}
