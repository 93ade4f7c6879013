import Foundation
import HTTPTypes
import Tandem
import TandemSync

/// Reads answers: an item, a page, or why there is neither.
///
/// An answer is taken whole or not at all. What it promises is checked before anything is returned: one JSON text, IDs
/// that can be IDs, none of them twice, versions that can be sent back, the order that was asked for. So a server, or
/// whoever stands in its place, can be wrong, but it can't make a store wrong.
public struct AnswerReader: Sendable {
    /// The tongue that answers are written in.
    public let dialect: Dialect
    /// Whose they are: a link to another host is refused.
    public let address: ServerAddress
    /// What a server may send.
    public let limits: AnswerLimits

    /// A reader for one server.
    public init(_ dialect: Dialect, at address: ServerAddress, limits: AnswerLimits = AnswerLimits()) {
        self.dialect = dialect
        self.address = address
        self.limits = limits
    }
}

// MARK: - Writes

extension AnswerReader {
    /// What a server answered to an insert, an update, a delete or an undelete.
    public func answer(
        _ response: HTTPResponse, _ body: [UInt8], to request: WireRequest
    ) throws(RemoteFailure) -> RemoteAnswer {
        try checkStatus(response, body, request)
        var answer = RemoteAnswer(serverDate: date(response))
        if case .undelete = request.action { answer.tookValues = !dialect.undeletesByPost }
        // Neither 204 nor an empty 200 has anything to read; the entity tag stands for the version.
        guard response.status.code != 204, !body.isEmpty else {
            answer.version = version(response)
            return answer
        }
        let item = try item(response, body, request)
        answer.item = item
        answer.version = item.version ?? version(response)
        answer.item?.version = answer.version
        switch request.action {
        case .update(let id), .delete(let id):
            guard item.id == id else { throw bad(.otherItem, "The answer is another item.", request, response) }
        case .undelete(let id):
            guard item.id == id else { throw bad(.otherItem, "The answer is another item.", request, response) }
            guard !item.isDeleted else {
                throw bad(.wrongType, "The item that came back is deleted.", request, response)
            }
        case .insert, .page, .find: break
        }
        return answer
    }

    /// What a server answered when one item was looked for; `nil` if there is none.
    public func found(
        _ response: HTTPResponse, _ body: [UInt8], to request: WireRequest
    ) throws(RemoteFailure) -> RemoteItem? {
        guard case .find(let key) = request.action else {
            throw bad(.status, "The request looked for no item.", request, response)
        }
        let isByPath = if case .id = key { dialect.findsDeletedByPath } else { false }
        do {
            try checkStatus(response, body, request)
        } catch .notFound where isByPath {
            return nil
        }
        let item: RemoteItem?
        if isByPath {
            var found = try self.item(response, body, request)
            found.version = found.version ?? version(response)
            item = found
        } else {
            // The entity tag of a list is one of the list, weak or not.
            let items = try items(response, body, request).items
            guard items.count < 2 else {
                throw bad(.ambiguous, "There are several items where one was looked for.", request, response)
            }
            item = items.first
        }
        guard let item else { return nil }
        let isIt =
            switch key {
            case .id(let id): item.id == id
            case .property(let name, let value): item[member: name] == .text(value)
            }
        guard isIt else { throw bad(.otherItem, "The answer is another item.", request, response) }
        return item
    }
}

// MARK: - Parts of an answer

extension AnswerReader {
    func bad(
        _ code: BadAnswer.Code, _ message: String, _ request: WireRequest, _ response: HTTPResponse
    ) -> RemoteFailure {
        .badAnswer(
            BadAnswer(code, message, table: request.table, url: request.url, status: response.status.code))
    }

    /// The body as JSON.
    func document(
        _ response: HTTPResponse, _ body: [UInt8], _ request: WireRequest
    ) throws(RemoteFailure) -> JSONNode {
        guard body.count <= limits.bytes else {
            throw bad(.tooLarge, "The body has more than \(limits.bytes) bytes.", request, response)
        }
        guard response.isJSON else {
            throw bad(.notJSON, "The body is not JSON, by its content type.", request, response)
        }
        do {
            return try body.withUnsafeBufferPointer {
                try ExactJSON.parseWire($0, maximumDigits: WireFormat.maximumDigits)
            }
        } catch {
            throw bad(.notJSON, "The body can't be read: \(error)", request, response)
        }
    }

    private func item(
        _ response: HTTPResponse, _ body: [UInt8], _ request: WireRequest
    ) throws(RemoteFailure) -> RemoteItem {
        try item(try document(response, body, request), response, request)
    }

    func item(
        _ node: JSONNode, _ response: HTTPResponse, _ request: WireRequest
    ) throws(RemoteFailure) -> RemoteItem {
        do {
            return try ItemCoding(dialect, limits).item(node)
        } catch {
            throw bad(error.code, error.message, request, response)
        }
    }

    /// The version in a strong entity tag: a weak one is made of the body, and stands on lists and errors.
    func version(_ response: HTTPResponse) -> String? {
        guard let tag = response.headerFields[.eTag], tag.utf8.count >= 2, tag.utf8.first == UInt8(ascii: "\""),
            tag.utf8.last == UInt8(ascii: "\"")
        else { return nil }
        let version = String(tag.dropFirst().dropLast())
        return ItemCoding.isVersion(version, limits) ? version : nil
    }

    /// The server's clock, by the second.
    func date(_ response: HTTPResponse) -> Date? {
        response.headerFields[.date].flatMap(HTTPDate.seconds).map {
            Date(timeIntervalSince1970: TimeInterval($0))
        }
    }
}

extension HTTPResponse {
    /// Whether the body says that it is JSON, or does not say what it is.
    var isJSON: Bool {
        guard let type = headerFields[.contentType] else { return true }
        let essence = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
        return essence == "application/json" || essence == "text/json"
            || essence.hasPrefix("application/") && essence.hasSuffix("+json")
    }
}
