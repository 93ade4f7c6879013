import HTTPTypes
import RemoteHTTP
import Tandem
import TandemSync

extension ResponseDecoder {
    /// Decodes a page: all of its items, or none.
    ///
    /// - Parameters:
    ///   - response: The status and the header fields.
    ///   - body: The bytes of the response.
    ///   - request: The request that was sent.
    /// - Throws: `RemoteFailure` for a status that is not a success, and for an invalid page.
    public func page(
        _ response: HTTPResponse, body: [UInt8], to request: WireRequest
    ) throws(RemoteFailure) -> RemotePage {
        guard case .page(let order, let top) = request.action else {
            throw bad(.status, message: "The request does not ask for a page.", request: request, response: response)
        }
        try checkStatus(response, body: body, request: request)
        let (items, count, nextLink) = try items(response, body: body, request: request)
        // A server may use its own page size and send some rows more. Twice as many rows are not plausible.
        guard items.count <= 2 * top else {
            throw bad(
                .tooManyItems, message: "The page has \(items.count) items, but the request asked for \(top).",
                request: request, response: response
            )
        }
        try checkOrder(items, order: order, request: request, response: response)
        // `$top` ends the chain of links although more items follow.
        let hasMore =
            nextLink != nil || items.count >= top
            || !dialect.wrapsPages && mayBeCapped(items, order: order, response: response)
        return RemotePage(items: items, hasMore: hasMore, count: count, serverDate: response.serverDate)
    }

    /// Returns whether items may follow a bare array that has fewer items than requested.
    ///
    /// A host may have a maximum page size of its own. It can report that only in a header, which not all hosts send.
    /// The pull then ends with a page without new items. A full pull treats items missing from the end as deleted.
    private func mayBeCapped(
        _ items: [RemoteItem], order: PageRequest.Order, response: HTTPResponse
    ) -> Bool {
        guard !items.isEmpty else { return false }
        if response.headerFields[.link]?.contains("rel=next") ?? false { return true }
        switch order {
        case .id: return true
        // The position is on the page again: alone, or with other items of the same instant, of which more may follow.
        case .updatedAt(let place): return items.count > 1 || items.last.map { $0.updatedAt != place } ?? false
        }
    }

    /// Decodes the items of a list, with the count and the link. No ID occurs twice.
    func items(
        _ response: HTTPResponse, body: [UInt8], request: WireRequest
    ) throws(RemoteFailure) -> (items: [RemoteItem], count: Int?, nextLink: String?) {
        let document = try document(response, body: body, request: request)
        let nodes: [JSONNode]
        var count: Int?
        var nextLink: String?
        switch document {
        case .array(let elements) where !dialect.wrapsPages: nodes = elements
        case .object(let members):
            let name = dialect.wrapsPages ? "items" : "results"
            guard case .array(let elements)? = members.value(name) else {
                throw bad(.wrongType, message: "The page has no array '\(name)'.", request: request, response: response)
            }
            nodes = elements
            count = try self.count(members.value("count"), request: request, response: response)
            nextLink = try link(members.value("nextLink"), request: request, response: response)
        default: throw bad(.wrongType, message: "The response is not a page.", request: request, response: response)
        }
        let items = try [RemoteItem](
            nodes,
            repeated: bad(
                .repeatedID, message: "Two items of the page have the same ID.", request: request, response: response)
        ) { node throws(RemoteFailure) in
            try item(node, response: response, request: request)
        }
        return (items, count, nextLink)
    }

    private func count(
        _ node: JSONNode?, request: WireRequest, response: HTTPResponse
    ) throws(RemoteFailure) -> Int? {
        switch node {
        case nil, .null: return nil
        case .integer(let count) where count >= 0: return Int(count)
        default:
            throw bad(.wrongType, message: "The count is not a number of items.", request: request, response: response)
        }
    }

    /// Decodes the link to the next page, which is a query of this server's address.
    ///
    /// A whole address must name this host, because requests carry credentials. Another host would receive them.
    private func link(
        _ node: JSONNode?, request: WireRequest, response: HTTPResponse
    ) throws(RemoteFailure) -> String? {
        switch node {
        case nil, .null: return nil
        case .text(let link):
            guard !link.isEmpty, link.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw bad(
                    .wrongType, message: "The link to the next page is not a valid URL.", request: request,
                    response: response)
            }
            guard !ServerAddress.isWhole(link) || address.hasOrigin(of: link) else {
                throw bad(
                    .foreignLink, message: "The link to the next page names another host.", request: request,
                    response: response)
            }
            return link
        default:
            throw bad(
                .wrongType, message: "The link to the next page is not a string.", request: request, response: response)
        }
    }

    private func checkOrder(
        _ items: [RemoteItem], order: PageRequest.Order, request: WireRequest, response: HTTPResponse
    ) throws(RemoteFailure) {
        switch order {
        case .updatedAt(var place):
            for item in items {
                guard let time = item.updatedAt else {
                    throw bad(
                        .noUpdatedAt, message: "An item has no updatedAt, but the page is sorted by it.",
                        request: request, response: response)
                }
                guard place.map({ $0 <= time }) ?? true else {
                    throw bad(
                        .outOfOrder, message: "The items do not ascend by updatedAt from the requested time.",
                        request: request, response: response)
                }
                place = time
            }
        case .id(let place):
            // The order of texts is up to the server, but no item follows itself.
            guard let place, items.contains(where: { $0.id == place }) else { return }
            throw bad(
                .outOfOrder, message: "The page contains the item that it must begin after.", request: request,
                response: response)
        }
    }
}

extension [RemoteItem.Member] {
    /// Returns the value of an ASCII name.
    fileprivate func value(_ name: String) -> JSONNode? {
        first { $0.key == name }?.value
    }
}
