import HTTPTypes
import Tandem
import TandemSync

extension AnswerReader {
    /// A page: all of its items, or none.
    public func page(
        _ response: HTTPResponse, _ body: [UInt8], to request: WireRequest
    ) throws(RemoteFailure) -> RemotePage {
        guard case .page(let order, let top) = request.action else {
            throw bad(.status, "The request asked for no page.", request, response)
        }
        try checkStatus(response, body, request)
        let (items, count, nextLink) = try items(response, body, request)
        // A server may have a page size of its own, and some rows more; a flood is something else.
        guard items.count <= 2 * top else {
            throw bad(.tooManyItems, "There are \(items.count) items, and \(top) were asked for.", request, response)
        }
        try checkOrder(items, order, request, response)
        // A `$top` makes the link end with it, although more follow.
        let hasMore =
            nextLink != nil || items.count >= top || !dialect.wrapsPages && mayBeCapped(items, order, response)
        return RemotePage(items: items, hasMore: hasMore, count: count, serverDate: date(response))
    }

    /// Whether items may follow a bare array that has fewer than were asked for: a host may have a greatest page of its
    /// own, and has no place to say so but a header that not every one sends. The end is then a page that brings nothing
    /// new. What is left out at the end of a full pull would be taken for deleted.
    private func mayBeCapped(
        _ items: [RemoteItem], _ order: PageRequest.Order, _ response: HTTPResponse
    ) -> Bool {
        guard !items.isEmpty else { return false }
        if response.headerFields[.link]?.contains("rel=next") ?? false { return true }
        switch order {
        case .id: return true
        // The place is on the page again: alone, or with others of its instant, of which there may be more.
        case .updatedAt(let place): return items.count > 1 || items.last.map { $0.updatedAt != place } ?? false
        }
    }

    /// The items of a list, with the count and the link that came along. No ID is there twice.
    func items(
        _ response: HTTPResponse, _ body: [UInt8], _ request: WireRequest
    ) throws(RemoteFailure) -> (items: [RemoteItem], count: Int?, nextLink: String?) {
        let document = try document(response, body, request)
        let nodes: [JSONNode]
        var count: Int?
        var nextLink: String?
        switch document {
        case .array(let elements) where !dialect.wrapsPages: nodes = elements
        case .object(let members):
            let name = dialect.wrapsPages ? "items" : "results"
            guard case .array(let elements)? = members.value(name) else {
                throw bad(.wrongType, "The page has no array \(name).", request, response)
            }
            nodes = elements
            count = try self.count(members.value("count"), request, response)
            nextLink = try link(members.value("nextLink"), request, response)
        default: throw bad(.wrongType, "The answer is no page.", request, response)
        }
        var items: [RemoteItem] = []
        items.reserveCapacity(nodes.count)
        var ids: Set<ServerID> = []
        for node in nodes {
            let item = try item(node, response, request)
            guard ids.insert(item.id).inserted else {
                throw bad(.repeatedID, "Two items of the page have one ID.", request, response)
            }
            items.append(item)
        }
        return (items, count, nextLink)
    }

    private func count(
        _ node: JSONNode?, _ request: WireRequest, _ response: HTTPResponse
    ) throws(RemoteFailure) -> Int? {
        switch node {
        case nil, .null: return nil
        case .integer(let count) where count >= 0: return Int(count)
        default: throw bad(.wrongType, "The count is no number of items.", request, response)
        }
    }

    /// A link to what follows is the query of our own address. A whole address has to be on our host: whoever else
    /// named one would be sent our credentials.
    private func link(
        _ node: JSONNode?, _ request: WireRequest, _ response: HTTPResponse
    ) throws(RemoteFailure) -> String? {
        switch node {
        case nil, .null: return nil
        case .text(let link):
            guard !link.isEmpty, link.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw bad(.wrongType, "The link to the next page is none.", request, response)
            }
            guard !ServerAddress.isWhole(link) || address.hasOrigin(of: link) else {
                throw bad(.foreignLink, "The next page is said to be on another host.", request, response)
            }
            return link
        default: throw bad(.wrongType, "The link to the next page is no string.", request, response)
        }
    }

    private func checkOrder(
        _ items: [RemoteItem], _ order: PageRequest.Order, _ request: WireRequest, _ response: HTTPResponse
    ) throws(RemoteFailure) {
        switch order {
        case .updatedAt(var place):
            for item in items {
                guard let time = item.updatedAt else {
                    throw bad(.noUpdatedAt, "An item has no updatedAt, and the order goes by it.", request, response)
                }
                guard place.map({ $0 <= time }) ?? true else {
                    throw bad(.outOfOrder, "The items do not ascend by updatedAt from the place.", request, response)
                }
                place = time
            }
        case .id(let place):
            // How a server orders texts is its own affair, but no item comes after itself.
            guard let place, items.contains(where: { $0.id == place }) else { return }
            throw bad(.outOfOrder, "The item that the page was to begin after is on it.", request, response)
        }
    }
}

extension [RemoteItem.Member] {
    /// The value of a name made of ASCII.
    fileprivate func value(_ name: String) -> JSONNode? {
        first { $0.key == name }?.value
    }
}
