import HTTPTypes
import Tandem
import TandemSync

/// A request as it is sent: its head, its body, and the data that validates its response.
public struct WireRequest: Sendable {
    /// The requested action, which determines the valid responses.
    public enum Action: Hashable, Sendable {
        /// A page in an order, with a maximum number of items.
        case page(PageRequest.Order, top: Int)
        /// A look-up of one item.
        case find(RemoteKey)
        /// The insert of an item, with its requested ID.
        case insert(ServerID?)
        /// The update of the item with this ID.
        case update(ServerID)
        /// The delete of the item with this ID.
        case delete(ServerID)
        /// The undelete of the item with this ID.
        case undelete(ServerID)
    }

    /// The method, the address and the header fields. Credentials and `Content-Length` are added later.
    public var head: HTTPRequest
    /// The JSON body. Empty if the request has none.
    public var body: [UInt8]
    /// The requested table.
    public let table: RemoteTableName
    /// The requested action.
    public let action: Action
    /// The address without the query, which errors may show.
    public let url: String

    /// Creates a request.
    package init(head: HTTPRequest, body: [UInt8] = [], table: RemoteTableName, action: Action, url: String) {
        self.head = head
        self.body = body
        self.table = table
        self.action = action
        self.url = url
    }
}
